/** For tests: a writer that collects the answer. */
import type { AnswerHeaders, AnswerWriter } from '@erp-proxy/async/streams';

export class CollectingWriter implements AnswerWriter {
  readonly isHeldBack = false;
  status: number | null = null;
  headers: AnswerHeaders = {};
  body = '';
  state: 'open' | 'whole' | 'broken off' = 'open';

  sendWhole(status: number, headers: AnswerHeaders, body: Uint8Array): void {
    this.begin(status, headers);
    void this.write(body);
    this.end();
  }

  begin(status: number, headers: AnswerHeaders): void {
    this.status = status;
    this.headers = headers;
  }

  write(piece: Uint8Array): Promise<void> | undefined {
    this.body += Buffer.from(piece).toString();
    return undefined;
  }

  end(): void {
    this.state = 'whole';
  }

  restart(): boolean {
    return this.status === null;
  }

  breakOff(): void {
    this.state = 'broken off';
  }
}
