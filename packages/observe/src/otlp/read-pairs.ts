/** Reads texts of the form `name=value`. The value may have %-escapes, as in the variables of OpenTelemetry. */
export function readPairs(texts: readonly string[]): [name: string, value: string][] {
  return texts.map((text) => {
    const at = text.indexOf('=');
    return [text.slice(0, at).trim(), decodeEscapes(text.slice(at + 1).trim())];
  });
}

/** Decodes %-escapes. If one is invalid, the text stays as it is. */
function decodeEscapes(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
