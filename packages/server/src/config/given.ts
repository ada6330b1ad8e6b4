/**
 * What a source of settings (file, environment, flags) hands over, before anything judges the values.
 */
import { findNearestName } from './nearest.ts';
import type { SettingName } from './schema.ts';

export interface Given {
  name: SettingName;
  value: unknown;
  /** Its source: `erp-proxy.yaml:3`, `ERP_PROXY_HTTP_PORT` or `--http.port`. */
  source: string;
}

export interface SettingError {
  source: string;
  /** What is wrong and what to do; never the value of a secret. */
  message: string;
}

export interface Reading {
  given: Given[];
  errors: SettingError[];
}

export function reportUnknownName(source: string, name: string, known: readonly string[]): SettingError {
  return { source, message: `there is no such setting; the nearest is ${findNearestName(name, known)}` };
}
