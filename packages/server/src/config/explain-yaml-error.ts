/** Describes the errors of YAML files. The parser's own messages quote the file, which may contain secrets. */
import type { YAMLError } from 'yaml';

export const NAME_TWICE = 'this name stands twice in its group; keep one';

export function explainYamlError({ code }: YAMLError): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return NAME_TWICE;
    case 'TAB_AS_INDENT':
      return 'lines are indented with spaces, not with tabs';
    case 'TAG_RESOLVE_FAILED':
      return 'tags (!name) are not taken here';
    case 'MULTIPLE_DOCS':
      return 'the file must be one YAML document; remove the line ---';
    default:
      return `this is not valid YAML (${code}): is the file whole? Check indentation, quotes and brackets`;
  }
}
