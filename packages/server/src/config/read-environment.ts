/**
 * Reads settings from environment variables, and secrets from the files that `…_FILE` variables name.
 */
import { resolve } from 'node:path';
import { type Reading, reportUnknownName } from './given.ts';
import { findSetting, nameFileVariable, nameVariable, SETTING_NAMES, VARIABLE_PREFIX } from './names.ts';
import { explainReadError } from './read-error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export function readEnvironment(env: Environment, readFile: (path: string) => string, cwd: string): Reading {
  const reading: Reading = { given: [], faults: [] };
  const known = new Set<string>();
  for (const name of SETTING_NAMES) {
    const { kind, secret } = findSetting(name);
    const variable = nameVariable(name);
    const value = env[variable];
    known.add(variable);
    if (value !== undefined) reading.given.push({ name, value: kind.readText(value), source: variable });
    if (!secret) continue;

    const fileVariable = nameFileVariable(name);
    const path = env[fileVariable];
    known.add(fileVariable);
    if (path === undefined) continue;
    if (value !== undefined) {
      reading.faults.push({ source: fileVariable, message: `${variable} is set too; unset one of the two` });
      continue;
    }
    try {
      // Editors and `echo` end a file with a line break that is no part of the secret.
      const content = readFile(resolve(cwd, path)).replace(/\r?\n$/, '');
      reading.given.push({ name, value: kind.readText(content), source: fileVariable });
    } catch (error) {
      reading.faults.push({ source: fileVariable, message: explainReadError(error) });
    }
  }
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(VARIABLE_PREFIX) || value === undefined || known.has(variable)) continue;
    if (isServiceLink(variable, value)) continue;
    reading.faults.push(reportUnknownName(variable, variable, [...known]));
  }
  return reading;
}

/**
 * Kubernetes gives every container such variables for each Service of its namespace: for one named `erp-proxy`,
 * ERP_PROXY_SERVICE_HOST, ERP_PROXY_SERVICE_PORT_HTTP, ERP_PROXY_PORT=tcp://…, ERP_PROXY_PORT_80_TCP_ADDR. The proxy
 * must start there all the same.
 */
function isServiceLink(variable: string, value: string): boolean {
  if (/_SERVICE_(HOST|PORT(_\w+)?)$/.test(variable)) return true;
  if (/_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(variable)) return true;
  return /_PORT$/.test(variable) && /^(tcp|udp|sctp):\/\//.test(value);
}
