/** Texts for operators that say why a step of key rotation failed and what to do. They contain no key. */
import type { OdooAnswer } from './ask-odoo.ts';

/** An answer without a result. */
type FailedAnswer = Exclude<OdooAnswer, { kind: 'result' }>;

const BY_HAND =
  'make a key by hand in Odoo (Preferences, Account Security, New API Key) and give it to the instance';

export function explainUnanswered(doing: string, { message }: FailedAnswer): string {
  return `Odoo did not answer while ${doing}: ${message}. It is tried again in about an hour.`;
}

export function explainNotMade(answer: FailedAnswer, label: string): string {
  const { kind, message } = answer;
  if (kind === 'unanswered') {
    return `${explainUnanswered('making a key', answer)} A key named "${label}" may be at Odoo: nobody knows its text, and it ends by itself.`;
  }
  switch (answer.type) {
    case 'method_not_found':
      return `This Odoo cannot make keys by call (19 can, from its later updates on): ${BY_HAND}.`;
    case 'access_denied':
      return `Odoo does not take the stored key as a living API key of this user; where it has ended, was removed or is a password, ${BY_HAND}.`;
    case 'validation_error':
      return `Odoo gives this user no key of even a day ("${message}"): raise the API key duration of a group of the user.`;
    case 'user_error':
      return `Odoo refused to make a key: "${message}". ${/limit/i.test(message) ? 'Remove keys of this user at Odoo that nobody needs.' : PERMISSION}`;
    default:
      return `Odoo refused to make a key: "${message}".`;
  }
}

const PERMISSION =
  'Set the system parameter base.enable_programmatic_api_keys to True (Settings, Technical, System Parameters), or make the user an administrator (Settings).';

export function explainNoKey(label: string): string {
  return `Odoo said that it made a key, and gave none. If there is one named "${label}", remove it at Odoo by hand.`;
}

export function explainLostKeys(count: number, label: string): string {
  return `Odoo has ${count} keys of this user, named like "${label}", that the proxy made and lost. Remove them at Odoo by hand: no more are made until then.`;
}

export function explainSharedKey(instance: string): string {
  return `The instance "${instance}" has the same key, and would lose it with this rotation: make a key of its own for it at Odoo.`;
}

export function explainNotProven(label: string, isRemoved: boolean): string {
  const rest = isRemoved ? 'it was removed' : `remove it at Odoo by hand: "${label}"`;
  return `The key that Odoo made does not open the user of the instance; the old one stays, and ${rest}.`;
}

export function explainNotRevoked(answer: OdooAnswer): string {
  if (answer.kind === 'unanswered') return explainUnanswered('removing the old key', answer);
  const said = answer.kind === 'refused' ? ` ("${answer.message}")` : '';
  return `The new key is in use, but Odoo did not remove the old one${said}: remove it at Odoo by hand, or let the user do so by call. ${PERMISSION}`;
}
