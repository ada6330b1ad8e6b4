/** Reads an answer of JSON lines line by line, while it arrives. */

/** Calls `onLine` for each line. Throws if a line is not JSON, or if the answer breaks off. */
export async function readLines(
  body: ReadableStream<Uint8Array>,
  onLine: (value: unknown) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let pending = '';
  for (;;) {
    const { done, value } = await reader.read();
    pending += decoder.decode(value, { stream: !done });
    const lines = pending.split('\n');
    pending = done ? '' : (lines.pop() ?? '');
    for (const line of lines) if (line.trim() !== '') onLine(JSON.parse(line));
    if (done) return;
  }
}
