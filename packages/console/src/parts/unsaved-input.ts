/** Records which forms have unsaved input, for actions that would lose it, such as signing out. Knows no form. */
import { useEffect } from 'react';

const dirty = new Set<symbol>();

export function hasUnsavedInput(): boolean {
  return dirty.size > 0;
}

/** Records that a form has unsaved input while it is shown and `isDirty`. */
export function useUnsavedInput(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return;
    const form = Symbol('form');
    dirty.add(form);
    return () => void dirty.delete(form);
  }, [isDirty]);
}
