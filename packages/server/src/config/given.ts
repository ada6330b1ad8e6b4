/** The unchecked settings of one source: file, environment or flags. */
import { findNearestName } from '@erp-proxy/text';
import type { SettingName } from './schema.ts';

export interface GivenSetting {
  name: SettingName;
  value: unknown;
  /** The source: `erp-proxy.yaml:3`, `ERP_PROXY_HTTP_PORT` or `--http.port`. */
  source: string;
}

export interface SettingError {
  source: string;
  /** The error and what to do. Never contains the value of a secret. */
  message: string;
}

export interface Reading {
  given: GivenSetting[];
  errors: SettingError[];
}

export function reportUnknownName(source: string, name: string, known: readonly string[]): SettingError {
  return { source, message: `there is no such setting; the nearest is ${findNearestName(name, known)}` };
}
