/** The reply of the proxy to a query that Odoo would refuse, or misread, because of a field. */
import type { FaultReply } from '../terms/reply.ts';

/** As Odoo 19 reports a wrong condition itself. `nearest`: fields to use instead, if they are known. */
export function replyInvalidQuery(message: string, nearest?: string[]): FaultReply {
  return {
    kind: 'fault',
    fault: {
      code: 200,
      message,
      data: {
        type: 'query_invalid',
        retryable: false,
        name: 'builtins.ValueError',
        message,
        arguments: [message],
        context: {},
        status: 422,
        ...(nearest === undefined ? {} : { nearest }),
      },
    },
  };
}
