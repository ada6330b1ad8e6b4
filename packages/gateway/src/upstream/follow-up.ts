/**
 * Step: sends further requests to the server of a call once it has a result. They use the permit of the call, so that
 * they keep one worker of Odoo busy at a time, and its time limit. Key, policy and instance are checked before each.
 */
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { ServerAccess, ServerQuestion } from '../terms/follow-up.ts';
import type { TargetedCall } from '../terms/method-call.ts';
import type { Next, Step } from '../terms/operation.ts';
import type { Target } from '../terms/target.ts';
import { readWholeReply } from './ask-server.ts';
import { type GetPdfDeps, getPdf } from './get-pdf.ts';

const ANSWER_BYTES_MAX = 2 * 1024 * 1024;

/** `send` sends one call. */
export function followUp(send: Step<TargetedCall>, deps: GetPdfDeps): Step<TargetedCall> {
  return async function followUp(call, context, next) {
    const answer = await readWholeReply(await next(context), context.time.deadline, READ);
    if ('failed' in answer) return answer.failed;
    return await context.followUp!(answer.result, accessServer(call.target, context, next));
  };

  function accessServer(target: Target, context: CallContext, next: Next): ServerAccess {
    return {
      async ask({ params, keyword, bytesMax = ANSWER_BYTES_MAX, ...question }: ServerQuestion) {
        const call: TargetedCall = {
          ...question,
          target,
          params: Buffer.from(JSON.stringify(params)),
          keyword: Buffer.from(JSON.stringify(keyword)),
          records: 'unsaid',
          isReadOnly: true,
        };
        const reply = await send(call, context, next);
        return await readWholeReply(reply, context.time.deadline, {
          bytesMax,
          unreadable: denySize(bytesMax),
        });
      },
      getPdf: (path, lang) => getPdf({ target, path, lang }, context, deps),
    };
  }
}

function denySize(bytesMax: number): Denial {
  return new Denial(
    'upstream_bad_response',
    `An answer of Odoo is larger than ${bytesMax / 2 ** 20} MiB, and was not passed on.`,
    { isReadOnly: true, detail: 'answer too large' },
  );
}

const READ = { bytesMax: ANSWER_BYTES_MAX, unreadable: denySize(ANSWER_BYTES_MAX) };
