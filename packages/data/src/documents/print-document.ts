/**
 * Prints the document of one record: a call reads the record under the policy of the key, and its document is found in
 * place of the result (find-document.ts).
 */
import type { AnswerWriter } from '@erp-proxy/async/streams';
import type { CallRunner, Denial } from '@erp-proxy/gateway/terms';
import { buildCall } from '../ask-odoo.ts';
import type { DataRequest } from '../data-request.ts';
import type { DocumentMembers } from './document-members.ts';
import { DECIDING_FIELDS, findDocument } from './find-document.ts';

const NAME = 'display_name';

export class DocumentPrinter {
  readonly #request: DataRequest;
  readonly #members: DocumentMembers;
  readonly #runner: CallRunner;
  #fields: readonly string[] | null = null;

  constructor(request: DataRequest, members: DocumentMembers, runner: CallRunner) {
    this.#request = request;
    this.#members = members;
    this.#runner = runner;
  }

  /** Resolves when the answer is written, or to the denial of a call that was not run. */
  async print(record: number, writer: AnswerWriter): Promise<Denial | null> {
    const { model } = this.#request;
    const { report } = this.#members;
    const lang = this.#members.lang ?? this.#runner.client.policy?.policy.context?.lang ?? null;
    const call = buildCall(this.#request, await this.describeRead([record]));
    const followUp = findDocument({ model, record, report, lang });
    // The call says whether a request may become a job.
    return await this.#runner.run(call, writer, { followUp, deferral: this.#runner.deferral });
  }

  /** The call that reads the records. */
  async describeRead(ids: readonly number[]) {
    this.#fields ??= await this.#chooseFields(ids);
    return describeRead(ids, this.#fields);
  }

  async #chooseFields(ids: readonly number[]): Promise<string[]> {
    const deciding = DECIDING_FIELDS.get(this.#request.model);
    if (deciding === undefined || this.#runner.deferral !== null) return [NAME];
    const call = buildCall(this.#request, describeRead(ids, [NAME]));
    const found = await this.#runner.findFields(call, [deciding]);
    const isKnown = found !== null && 'types' in found && found.types.has(deciding);
    return isKnown ? [NAME, deciding] : [NAME];
  }
}

function describeRead(ids: readonly number[], fields: readonly string[]) {
  return {
    method: 'read',
    params: JSON.stringify([ids]),
    keyword: { fields: JSON.stringify(fields) },
  };
}
