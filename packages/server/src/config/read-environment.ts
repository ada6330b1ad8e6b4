/**
 * Reads settings from environment variables: variables of this program, standard variables, and `…_FILE` variables,
 * which name files with secrets.
 */
import { resolve } from 'node:path';
import { type Reading, reportUnknownName } from './given.ts';
import {
  findSetting,
  INSTANCE_VARIABLE,
  KEY_VARIABLE,
  nameFileVariable,
  nameVariable,
  SETTING_NAMES,
  URL_VARIABLE,
  VARIABLE_PREFIX,
} from './names.ts';
import { explainReadError } from './read-error.ts';
import type { SettingName } from './schema.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that commands read, and that are not settings. */
const COMMAND_VARIABLES = [KEY_VARIABLE, URL_VARIABLE, INSTANCE_VARIABLE];

/**
 * Reads the variables. An empty variable counts as unset. A `…_FILE` variable takes precedence over the one without
 * `_FILE`.
 */
export function readEnvironment(env: Environment, readFile: (path: string) => string, cwd: string): Reading {
  const reading: Reading = { given: [], errors: [] };
  const known = new Set<string>(COMMAND_VARIABLES);
  for (const name of SETTING_NAMES) {
    const { kind, secret } = findSetting(name);
    const variable = nameVariable(name);
    const fileVariable = nameFileVariable(name);
    known.add(variable);
    if (secret) known.add(fileVariable);
    const value = env[variable];
    const path = secret ? env[fileVariable] : undefined;
    if (path) {
      try {
        const value = readSecretText(name, readFile(resolve(cwd, path)));
        reading.given.push({ name, value, source: fileVariable });
      } catch (error) {
        reading.errors.push({ source: fileVariable, message: explainReadError(error) });
      }
    } else if (value) {
      reading.given.push({ name, value: kind.readText(value), source: variable });
    } else {
      const standard = findStandard(name, env);
      if (standard !== null)
        reading.given.push({ name, value: kind.readText(standard.text), source: standard.variable });
    }
  }
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(VARIABLE_PREFIX) || !value || known.has(variable)) continue;
    if (isServiceLink(variable, value)) continue;
    reading.errors.push(reportUnknownName(variable, variable, [...known]));
  }
  return reading;
}

/** The unchecked value of a setting from the text of its file. */
export function readSecretText(name: SettingName, text: string): unknown {
  // Removes the line break at the end, which editors and `echo` add to the secret.
  return findSetting(name).kind.readText(text.replace(/\r?\n$/, ''));
}

/** The first of the standard variables that sets the setting. */
function findStandard(name: SettingName, env: Environment): { variable: string; text: string } | null {
  for (const { name: variable, convert } of findSetting(name).standardVariables ?? []) {
    const given = env[variable];
    const text = given && convert !== undefined ? convert(given) : given;
    if (text) return { variable, text };
  }
  return null;
}

/**
 * True if Kubernetes set the variable. It sets such variables in every container for each Service of the namespace: for
 * one named `erp-proxy`, ERP_PROXY_SERVICE_HOST, ERP_PROXY_SERVICE_PORT_HTTP, ERP_PROXY_PORT=tcp://… and
 * ERP_PROXY_PORT_80_TCP_ADDR. They must not prevent the start.
 */
function isServiceLink(variable: string, value: string): boolean {
  if (/_SERVICE_(HOST|PORT(_\w+)?)$/.test(variable)) return true;
  if (/_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(variable)) return true;
  return /_PORT$/.test(variable) && /^(tcp|udp|sctp):\/\//.test(value);
}
