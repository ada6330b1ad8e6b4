/** Reads the header `x-approval`: ids of approvals, separated by commas. */
import { APPROVAL_HEADER, BATCH_CALLS_MAX } from '@erp-proxy/contract';
import { isApprovalId } from '../../approvals/approval-id.ts';
import { Denial } from '../terms/denial.ts';
import type { Exchange } from '../terms/exchange.ts';

/** Empty if the caller sent none. */
export function readApprovalIds(exchange: Pick<Exchange, 'header'>): readonly string[] | Denial {
  const text = exchange.header(APPROVAL_HEADER);
  if (text === undefined || text === '') return [];
  // Limits the work before the text is split.
  const ids = text.length > TEXT_LENGTH_MAX ? [] : text.split(',').map((id) => id.trim());
  if (ids.length >= 1 && ids.length <= BATCH_CALLS_MAX && ids.every(isApprovalId)) return ids;
  const message = `The header \`${APPROVAL_HEADER}\` must have at most ${BATCH_CALLS_MAX} ids of approvals, separated by commas, as in \`data.approval\` of the error \`approval_required\`.`;
  return new Denial('invalid_request', message, { path: APPROVAL_HEADER });
}

const TEXT_LENGTH_MAX = 8 * 1024;
