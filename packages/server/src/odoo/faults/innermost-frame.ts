/** Finds the place in a Python traceback that raised the exception. Pure. */

/** No class name is looked for further behind the last frame. */
const CLASS_WITHIN = 4_096;
/** A traceback with its message is far shorter; what stands further in front would hold other calls up. */
const DEBUG_LENGTH_MAX = 262_144;
/** A longer line is no frame; keeps the patterns on a frame cheap. */
const FRAME_LENGTH_MAX = 2_048;
/** Between the parts of a chained traceback. */
const CAUSE = '\nThe above exception was the direct cause of the following exception:';
/**
 * Odoo 14 and 15 raise every exception once more here, so that the part before the last names the place
 * (docs/odoo-facts.md#chained-traceback).
 */
const RAISED_AGAIN = /[\\/]http\.py", line \d+, in _handle_exception$/;

/** The fault that the traceback belongs to. */
export interface TracedFault {
  /** Odoo's exception class. */
  name: string;
  message: string;
  debug: string;
}

/**
 * The frame that raised the exception, `File "…", line 1, in name`. Empty unless the traceback goes on to name the
 * exception's class: what was cut tells nothing.
 */
export function findInnermostFrame({ name, message, debug }: TracedFault): string {
  const places = cutMessage(debug.slice(-DEBUG_LENGTH_MAX), message);
  const last = findLastFrame(places, places.length);
  if (last === null || !namesClass(places, last.end, name)) return '';
  if (!RAISED_AGAIN.test(last.text)) return last.text;
  const cause = places.lastIndexOf(CAUSE);
  return (cause === -1 ? null : findLastFrame(places, cause)?.text) ?? '';
}

/** A traceback ends with the message. It can hold a user's text, and so lines that look like frames. */
function cutMessage(debug: string, message: string): string {
  const text = message.trimEnd();
  const whole = debug.trimEnd();
  return text !== '' && whole.endsWith(text) ? whole.slice(0, -text.length) : debug;
}

/** The last frame that begins before `before`. */
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
