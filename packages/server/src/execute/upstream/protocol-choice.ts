/** The operator's choice of protocol: that of the stored instance, or by the server's origin. */
import type { Protocol } from '../terms/method-call.ts';
import type { TranslateDeps } from './translate.ts';

interface ProtocolSettings {
  /** `auto`, or a protocol. */
  protocol: string;
  /** Exceptions for single servers: an origin, `=`, and `auto` or a protocol. */
  protocolFor: readonly string[];
}

export function createProtocolChoice({
  protocol,
  protocolFor,
}: ProtocolSettings): TranslateDeps['protocolFor'] {
  const byOrigin = new Map(
    protocolFor.map((entry) => {
      const [origin = '', chosen] = entry.split('=');
      return [new URL(origin).origin, chosen as 'auto' | Protocol];
    }),
  );
  const otherwise = protocol as 'auto' | Protocol;
  return ({ origin, instance }) => {
    const own = instance?.protocol ?? 'auto';
    return own === 'auto' ? (byOrigin.get(origin) ?? otherwise) : own;
  };
}
