/** Whether a person reads or selects what an element shows, so that it must not move. */
import { type RefObject, useEffect, useState } from 'react';

export function useHeld(element: RefObject<HTMLElement | null>): boolean {
  const [isOver, setOver] = useState(false);
  const [isSelected, setSelected] = useState(false);
  const [hasFocus, setFocus] = useState(false);
  useEffect(() => {
    const held = element.current;
    if (held === null) return;
    const ended = new AbortController();
    const { signal } = ended;
    held.addEventListener('pointerenter', () => setOver(true), { signal });
    held.addEventListener('pointerleave', () => setOver(false), { signal });
    // Only a focus that the keyboard moved: a click leaves one behind.
    held.addEventListener('focusin', () => setFocus(held.querySelector(':focus-visible') !== null), {
      signal,
    });
    held.addEventListener('focusout', () => setFocus(false), { signal });
    const noteSelection = () => {
      const selection = getSelection();
      setSelected(selection !== null && !selection.isCollapsed && held.contains(selection.anchorNode));
    };
    document.addEventListener('selectionchange', noteSelection, { signal });
    return () => ended.abort();
  }, [element]);
  return isOver || isSelected || hasFocus;
}
