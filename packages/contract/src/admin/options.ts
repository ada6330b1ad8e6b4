/** How the options of commands differ from the members that they are for. The commands and the console follow them. */

export interface OptionRule {
  /** Default: the name of the member, with dashes. */
  name?: string;
  /**
   * The option names a file with the value. `line`: the file has one line, whose line break is left out. `text`: the
   * whole file is the value.
   */
  file?: 'line' | 'text';
  /** A name of such a file, for examples. */
  example?: string;
  /** The option has the value as JSON, whatever its elements are. */
  isJson?: true;
}

export type OptionRules = Readonly<Record<string, OptionRule>>;

/** Removes the value of a member, which is null in the schema. */
export const NO_VALUE = 'none';

/** `--url` is the address of the proxy. */
export const INSTANCE_OPTIONS: OptionRules = {
  url: { name: 'erp-url' },
  api_key: { name: 'api-key-file', file: 'line', example: './odoo.key' },
  certificates: { name: 'certificates-file', file: 'text', example: './certificates.pem' },
};

export const SUBSCRIPTION_OPTIONS: OptionRules = {
  url: { name: 'receiver' },
  interval_seconds: { name: 'interval' },
  domain: { isJson: true },
};

export function nameOption(member: string, rules: OptionRules): string {
  return rules[member]?.name ?? member.replaceAll('_', '-');
}
