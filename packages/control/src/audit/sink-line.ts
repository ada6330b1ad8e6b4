/**
 * The form of a record in a file: a line of JSON with its number, its hash and the record itself, byte for byte as the
 * store has it. Also reads the form in which collectors write the logs of OTLP to files. Pure.
 */
import { tryParse } from '@erp-proxy/contract';
import type { AuditRow } from '@erp-proxy/stores/ports';

export type SinkRecord = Pick<AuditRow, 'seq' | 'record' | 'hash'>;

/** Attributes of a record in OTLP. The body is the record. */
export const SEQ_ATTRIBUTE = 'erp_proxy.audit.seq';
export const HASH_ATTRIBUTE = 'erp_proxy.audit.hash';

/** The line, with its line break. A record that is not JSON, because somebody changed it, is a text. */
export function printSinkLine({ seq, record, hash }: SinkRecord): string {
  const isObject = typeof tryParse(record) === 'object' && !/[\r\n]/.test(record);
  return `{"seq":${seq},"hash":"${printHash(hash)}","record":${isObject ? record : JSON.stringify(record)}}\n`;
}

export function printHash(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex');
}

const LINE = /^\{"seq":([1-9]\d{0,15}),"hash":"([0-9a-f]{64})","record":(.*)\}$/s;

/** The records of a line; null: the line is of neither form. Lines of other logs have no records. */
export function readSinkLine(line: string): SinkRecord[] | null {
  const [, seq, hash, record] = LINE.exec(line) ?? [];
  if (seq === undefined || hash === undefined || record === undefined) return readOtlpLine(line);
  const parsed = tryParse(record);
  if (parsed === undefined) return null;
  const text = typeof parsed === 'string' ? parsed : record;
  return [{ seq: Number(seq), hash: Buffer.from(hash, 'hex'), record: text }];
}

function readOtlpLine(line: string): SinkRecord[] | null {
  const request = tryParse(line) as { resourceLogs?: unknown } | null | undefined;
  const resources = listMembers(request, 'resourceLogs');
  if (resources === null) return null;
  const records = resources
    .flatMap((resource) => listMembers(resource, 'scopeLogs') ?? [])
    .flatMap((scope) => listMembers(scope, 'logRecords') ?? []);
  return records.flatMap((record): SinkRecord[] => {
    const attributes = new Map(
      (listMembers(record, 'attributes') ?? []).map((attribute) => {
        const { key, value } = attribute as { key: unknown; value?: Record<string, unknown> };
        return [key, Object.values(value ?? {})[0]];
      }),
    );
    const seq = Number(attributes.get(SEQ_ATTRIBUTE));
    const hash = String(attributes.get(HASH_ATTRIBUTE));
    const { body } = record as { body?: { stringValue?: unknown } };
    const text = body?.stringValue;
    if (!Number.isSafeInteger(seq) || !/^[0-9a-f]{64}$/.test(hash) || typeof text !== 'string') return [];
    return [{ seq, hash: Buffer.from(hash, 'hex'), record: text }];
  });
}

function listMembers(value: unknown, name: string): unknown[] | null {
  if (typeof value !== 'object' || value === null) return null;
  const found = (value as Record<string, unknown>)[name];
  return Array.isArray(found) ? found : null;
}
