/** `approvals …`: decides on calls that need the approval of an administrator. */
import type {
  ApprovalDetails,
  ApprovalState,
  ApprovalView,
  ConcernedRecord,
  ConcernedRecords,
} from '@erp-proxy/contract';
import { type Command, CommandError, printResult, showMembers } from './command.ts';
import { type Column, printList } from './print-list.ts';
import { ADMIN_OPTIONS, adminCommand, listAll, pickGiven, useAdmin } from './use-admin.ts';

const STATES: readonly ApprovalState[] = ['pending', 'approved', 'refused', 'used', 'expired'];
const COLUMNS: readonly Column<ApprovalView>[] = [
  { heading: 'ID', show: ({ id }) => id },
  { heading: 'STATE', show: ({ state }) => state },
  { heading: 'CALL', show: ({ model, action }) => `${model}.${action}` },
  { heading: 'ON', show: ({ instance, upstream, db }) => instance ?? `${upstream} ${db}` },
  { heading: 'KEY', show: ({ key_id }) => key_id },
  { heading: 'CREATED', show: ({ created_at }) => created_at },
  { heading: 'EXPIRES', show: ({ expires_at }) => expires_at },
];

export const approvalsCommands: readonly Command[] = [
  {
    name: 'approvals list',
    summary: 'List the calls that wait for an approval, newest first.',
    options: {
      state: { choices: [...STATES, 'all'], description: 'Calls in this state. Default: pending.' },
      ...ADMIN_OPTIONS,
    },
    async run(input) {
      const wanted = input.option('state') ?? 'pending';
      const state = STATES.find((known) => known === wanted);
      return useAdmin(input, async (admin) => {
        const emptyText = wanted === 'pending' ? 'No call waits for an approval.' : 'No approval matches.';
        return printList(input, listAll(admin.listApprovals, pickGiven({ state })), COLUMNS, emptyText);
      });
    },
  },
  adminCommand({
    name: 'approvals show',
    arguments: ['<id>'],
    summary: 'Show a call that needs an approval, with its values.',
    ask: (admin, id) => admin.getApproval(id),
    show: describeMembers,
  }),
  adminCommand({
    name: 'approvals approve',
    arguments: ['<id>'],
    summary: 'Approve a call: its caller can send it once.',
    ask: (admin, id) => admin.approveCall(id),
    show: (approval) => `Approved: ${nameCall(approval)} can be sent once until ${approval.expires_at}.\n`,
  }),
  {
    name: 'approvals refuse',
    arguments: ['<id>'],
    summary: 'Refuse a call. Its caller gets the reason, and its values are deleted.',
    options: {
      reason: { value: 'text', description: 'Why it is refused; the caller gets this text.' },
      ...ADMIN_OPTIONS,
    },
    async run(input) {
      const reason = input.option('reason');
      if (reason === undefined) throw new CommandError('Give --reason <text>: the caller gets it.');
      return useAdmin(input, async (admin) => {
        const approval = await admin.refuseCall(input.arguments[0] ?? '', { reason });
        return printResult(input, approval, `Refused: ${nameCall(approval)} is not run.\n`);
      });
    },
  },
];

function nameCall({ model, action }: ApprovalView): string {
  return `${model}.${action}`;
}

function describeMembers({ call, decided_by, ...members }: ApprovalDetails): string {
  const texts = [showMembers({ ...members, decided_by: decided_by?.name ?? null }, 12)];
  if (call === null) texts.push(showMembers({ call: 'deleted' }, 12));
  else if ('unreadable' in call) texts.push(showMembers({ call: call.unreadable }, 12));
  else {
    const { concerns = [], ...values } = call;
    for (const part of concerns)
      texts.push(showMembers({ [part.part]: showControls(describePart(part)) }, 12));
    for (const [member, text] of Object.entries(values))
      texts.push(showMembers({ [member]: showControls(text) }, 12));
  }
  return texts.join('');
}

/** E.g. `sale.order: "S00004" (id 4, partner "Gemini Furniture", state "sale")`. */
function describePart({ model, field, count, records }: ConcernedRecords): string {
  const from = field === undefined ? '' : `${field}, `;
  const more = (count ?? 0) - records.length;
  const texts = records.map(describeRecord).join(', ') || (count === 0 ? 'none' : 'not known');
  return `${from}${model}: ${texts}${more > 0 ? ` and ${more} more` : ''}`;
}

function describeRecord({ id, name, ...told }: ConcernedRecord): string {
  const texts = Object.entries(told).filter(([, text]) => typeof text === 'string');
  const facts = [`id ${id}`, ...texts.map(([member, text]) => `${member} ${JSON.stringify(text)}`)].join(
    ', ',
  );
  return name === null ? facts : `${JSON.stringify(name)} (${facts})`;
}

/** Escapes characters that a terminal does not show, or that reorder a line, as in JSON. */
function showControls(json: string): string {
  return json.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => toEscape(character.charCodeAt(at))).join(''),
  );
}

function toEscape(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}
