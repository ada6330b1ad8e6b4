/** Tells whether a person is reading or selecting the content of an element, so that it must not move. */
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
    // Only if the keyboard moved the focus: a click leaves a focus behind, too.
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
