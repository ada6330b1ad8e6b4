/** Finds the frame of a Python traceback that raised the exception. Pure functions. */

/** Characters after the last frame in which the class name is searched. */
const CLASS_WITHIN = 4_096;
/** Characters of a traceback that are searched, from its end. A normal traceback with its message is far shorter. */
const DEBUG_LENGTH_MAX = 262_144;
/** Longest line that can be a frame, in characters. Keeps the pattern cheap. */
const FRAME_LENGTH_MAX = 2_048;
/** The line that separates the parts of a chained traceback. */
const CAUSE = '\nThe above exception was the direct cause of the following exception:';
/**
 * The frame in which Odoo 14 and 15 raise every exception again. The traceback's part before it names the place that
 * raised the exception (docs/odoo-facts.md#chained-traceback).
 */
const RAISED_AGAIN = /[\\/]http\.py", line \d+, in _handle_exception$/;

/** The fault that contains the traceback. */
export interface TracedFault {
  /** Odoo's exception class. */
  name: string;
  message: string;
  debug: string;
}

/**
 * The frame that raised the exception, as `File "…", line 1, in name`. Empty unless the class of the exception follows
 * in the traceback: a truncated traceback proves nothing.
 */
export function findInnermostFrame({ name, message, debug }: TracedFault): string {
  const places = cutMessage(debug.slice(-DEBUG_LENGTH_MAX), message);
  const last = findLastFrame(places, places.length);
  if (last === null || !namesClass(places, last.end, name)) return '';
  if (!RAISED_AGAIN.test(last.text)) return last.text;
  const cause = places.lastIndexOf(CAUSE);
  return (cause === -1 ? null : findLastFrame(places, cause)?.text) ?? '';
}

/**
 * The end of the frames, before the message. The message can contain a user's text, with lines that look like frames.
 */
function cutMessage(debug: string, message: string): string {
  const text = message.trimEnd();
  const whole = debug.trimEnd();
  return text !== '' && whole.endsWith(text) ? whole.slice(0, -text.length) : debug;
}

/** The last frame that begins before offset `before`. */
function findLastFrame(debug: string, before: number): { text: string; end: number } | null {
  const at = debug.lastIndexOf('\n  File "', before);
  if (at === -1) return null;
  const end = debug.indexOf('\n', at + 1);
  if (end === -1 || end - at > FRAME_LENGTH_MAX) return null;
  return { text: debug.slice(at, end).trim(), end };
}

function namesClass(debug: string, from: number, exception: string): boolean {
  const className = exception.slice(exception.lastIndexOf('.') + 1);
  return debug
    .slice(from, from + CLASS_WITHIN)
    .split('\n')
    .some(
      (line) => !line.startsWith(' ') && line.split(':', 1)[0]?.endsWith(className) === true && line !== '',
    );
}
