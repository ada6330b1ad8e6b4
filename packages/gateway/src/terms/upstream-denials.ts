/** Denials about the upstream that several steps return, each with one text. */
import type { Outcome } from '@erp-proxy/contract';
import type { EgressFailure } from '@erp-proxy/egress';
import { Denial } from './denial.ts';
import type { FaultReply } from './reply.ts';
import type { Deadline } from './request-time.ts';

/** The members that every denial about an upstream needs. */
export interface OutcomeDetails {
  outcome: Outcome;
  isReadOnly: boolean;
  /** The cause, for the log. */
  detail?: string;
}

/** One text for all refused addresses, so that it reveals nothing about what runs there. */
export function denyEgress(detail: string): Denial {
  return new Denial(
    'egress_denied',
    'The operator does not allow this address. Only public addresses over https are allowed, and what the setting egress.allow names.',
    { path: 'erp_instance.url', detail },
  );
}

/** The call was ended by the proxy: after its time limit, or by a shutdown. */
export function denyEnded(deadline: Deadline, details: OutcomeDetails): Denial {
  if (deadline.reason === 'shutdown') {
    return new Denial('overloaded', `The proxy is shutting down. ${describeOutcome(details)}`, {
      ...details,
      retryAfterSeconds: 1,
    });
  }
  return new Denial(
    'upstream_timeout',
    `Odoo did not answer in time; ask for less, or allow more with x-request-timeout. ${describeOutcome(details)}`,
    details,
  );
}

/** The server began to answer, and the rest does not come. */
export function denyBrokenOff(deadline: Deadline, details: OutcomeDetails): Denial {
  if (deadline.reason !== null) return denyEnded(deadline, details);
  const message = `The server broke its answer off. ${describeOutcome(details)}`;
  return new Denial('upstream_unreachable', message, details);
}

/** The time limit of a call passed before anything of it was sent. */
export function denyUnsent({ isReadOnly }: { isReadOnly: boolean }): Denial {
  return new Denial(
    'overloaded',
    'The time limit of the call passed before it was sent to Odoo. Send it again in 1 s, or allow more with x-request-timeout.',
    { outcome: 'not_sent', isReadOnly, retryAfterSeconds: 1, detail: 'ended' },
  );
}

/** The call was ended before anything of it was sent. */
export function denyEndedUnsent(deadline: Deadline, details: { isReadOnly: boolean }): Denial {
  if (deadline.reason !== 'shutdown') return denyUnsent(details);
  return denyEnded(deadline, { outcome: 'not_sent', ...details });
}

/** During a lockout, Odoo 14 and 15 refuse all credentials, correct ones too (login-cooldown.ts). */
export class LoginCooldown extends Denial {
  constructor(details: OutcomeDetails, retryAfterSeconds: number) {
    super(
      'overloaded',
      `Odoo has locked this proxy's address out for a moment, after wrong credentials of any caller. Send the call again in ${retryAfterSeconds} s. ${describeOutcome(details)}`,
      { ...details, retryAfterSeconds, detail: 'login cooldown' },
    );
  }
}

/** One more refusal of this caller's credentials could lock the proxy's address out (Odoo 14 and 15). */
export function denyTrial({ isReadOnly }: { isReadOnly: boolean }, retryAfterSeconds: number): Denial {
  return new Denial(
    'overloaded',
    `Odoo has refused credentials of this client key several times, and would lock out all callers. Check \`user_id\` and \`api_key\`; others than those that worked before are tried again in ${retryAfterSeconds} s. The call was not run.`,
    { outcome: 'not_sent', isReadOnly, retryAfterSeconds, detail: 'login trials' },
  );
}

/** This machine lacks file descriptors, local ports or memory, whatever the server. */
export class NoConnectionLeft extends Denial {
  constructor(details: { isReadOnly: boolean; detail: string }) {
    super(
      'overloaded',
      'The proxy can open no more connections at present. The call was not run; send it again in 1 s.',
      { ...details, outcome: 'not_sent', retryAfterSeconds: 1 },
    );
  }
}

/** For a call of a batch that was not sent because the caller has left, while other calls continue. Nobody reads it. */
export const CALLER_GONE = new Denial('overloaded', 'The caller has left. The call was not run.', {
  outcome: 'not_sent',
});

/** The reply of a call that must start over (run-call.ts). No caller gets it. */
export const CHANGED = new Denial(
  'internal',
  'The key, its policy or the instance of this call has changed.',
);

/** Tells the caller whether the call ran, before it is sent again. `isFinal`: another attempt would fail, too. */
export function describeOutcome({ outcome, isReadOnly }: OutcomeDetails, isFinal = false): string {
  if (outcome === 'not_sent') return 'The call was not run.';
  if (outcome === 'rolled_back') return 'Odoo rolled the call back.';
  if (isReadOnly)
    return isFinal
      ? 'The call only reads and has changed nothing.'
      : 'The call only reads and may be sent again.';
  return 'Odoo may have run the call: look there before sending it again.';
}

/** The denial for a request without an answer. */
export function denyFailure(
  failure: EgressFailure,
  { isReadOnly }: { isReadOnly: boolean },
  deadline: Deadline,
): Denial {
  const details: OutcomeDetails = {
    outcome: failure.sent ? 'unknown' : 'not_sent',
    isReadOnly,
    detail: failure.detail,
  };
  switch (failure.reason) {
    case 'denied':
      return denyEgress(failure.detail);
    case 'withdrawn':
      return CHANGED;
    case 'aborted':
      return denyEnded(deadline, details);
    case 'exhausted':
      return new NoConnectionLeft({ isReadOnly, detail: failure.detail });
    case 'connect_timeout':
    case 'first_byte_timeout':
      return new Denial(
        'upstream_timeout',
        `${TIMEOUT_TEXTS[failure.reason]} ${describeOutcome(details)}`,
        details,
      );
    case 'bad_response':
      return new Denial(
        'upstream_bad_response',
        `The server's answer is not HTTP that can be read. Check \`erp_instance.url\`. ${describeOutcome(details, true)}`,
        details,
      );
    default:
      return new Denial(
        'upstream_unreachable',
        `${UNREACHABLE_TEXTS[failure.reason]} ${describeOutcome(details)}`,
        details,
      );
  }
}

const TIMEOUT_TEXTS = {
  connect_timeout: 'The connection to the server was not made in time.',
  first_byte_timeout: 'Odoo did not begin to answer in time.',
} as const;

const UNREACHABLE_TEXTS = {
  unresolved: 'The host in `erp_instance.url` has no address; check its spelling.',
  refused: 'The server refuses connections; check host and port in `erp_instance.url`, and that Odoo runs.',
  tls: "The server's TLS handshake or certificate failed; check the scheme and host in `erp_instance.url`.",
  reset: 'The server closed the connection without an answer.',
} as const;

/** Whether another attempt can succeed. */
export function isPassing(failed: FaultReply | Denial): boolean {
  return failed instanceof Denial || failed.fault.data.retryable;
}

/**
 * Says why a call was not sent if a question to its server, which had to be answered first, has failed. `text` says
 * what was needed, and that nothing was sent. A call that must start over does so.
 */
export function explainFailure(failed: FaultReply | Denial, text: string): FaultReply | Denial {
  if (failed === CHANGED) return failed;
  if (failed instanceof Denial) {
    const more = { ...failed.more, outcome: 'not_sent' as const };
    return new Denial(failed.type, `${text} ${failed.message}`, more);
  }
  return { ...failed, fault: { ...failed.fault, message: `${text} ${failed.fault.message}` } };
}
