/**
 * Judges a stored delivery by the key of its subscription as it is now: since the reading, the key may have ended, or
 * its policy may have been changed. The fields are those that the delivery holds.
 */
import { authorizeData } from '../../execute/call/authorize.ts';
import { explainCall } from '../../execute/call/explain.ts';
import { findValue, readMembers } from '../../json/members.ts';
import type { JsonSpan } from '../../json/span.ts';
import { decodeString } from '../../json/string.ts';
import type { Keys } from '../../keys/keys.ts';
import type { JudgeDelivery } from '../../subscriptions/outbox.ts';
import { findClient } from './find-client.ts';

export interface DeliveryJudgeDeps {
  keys: Pick<Keys, 'findClient'>;
  /** Milliseconds since 1970. */
  clock: () => number;
}

export function createDeliveryJudge({ keys, clock }: DeliveryJudgeDeps): JudgeDelivery {
  return async (subscription, { body }) => {
    if (!('key' in subscription) || subscription.key === null) return null;
    const client = await findClient(subscription, keys);
    if ('problem' in client) return client.problem;
    const denied = authorizeData(client, 'subscriptions');
    if (denied !== null) return explain(denied.message);
    const call = describeReading(Buffer.from(body));
    const { allowed, approval, message } = explainCall(client.key, client.policy, { call }, clock());
    if (!allowed) return explain(message);
    return approval === null ? null : explain(`Reading needs an approval, because of \`${approval}\`.`);
  };
}

function explain(message: string): string {
  return `policy_denied: ${message}`;
}

/** The call that reads what the delivery holds. `bytes`: the body of the delivery, which is ours. */
function describeReading(bytes: Uint8Array): object {
  const body = readMembers(bytes, { kind: 'object', start: 0, end: bytes.length });
  const data = readMembers(bytes, findValue(body, 'data') as JsonSpan);
  const record = findValue(data, 'record');
  const fields = record?.kind === 'object' ? readMembers(bytes, record).map(({ name }) => name) : [];
  const text = (name: string) => {
    const value = findValue(data, name);
    return value === undefined ? '' : decodeString(bytes, value);
  };
  return {
    action: 'search_read',
    model_id: text('model'),
    params: [[]],
    // A call that names none would ask for all.
    keyword: { fields: fields.length === 0 ? ['id'] : fields },
    erp_instance: { name: text('instance') },
  };
}
