/** Keeps the form of the playground as state, and copies it into the URL. */
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import type { CallForm } from './call-form.ts';
import { loadForm, readSearch, saveForm } from './read-form.ts';
import { playgroundRoute } from './route.ts';

export type ChangeForm = (changes: Partial<CallForm>) => void;

export function useCallForm(): [CallForm, ChangeForm] {
  const search = playgroundRoute.useSearch();
  const navigate = useNavigate({ from: playgroundRoute.fullPath });
  const [form, setForm] = useState(() => loadForm(search, sessionStorage));
  const [draftId] = useState(() => search.draft ?? crypto.randomUUID().slice(0, 8));
  /** The URL parameters that belong to the present form. Others come from a link, or from the browser's Back. */
  const written = useRef(JSON.stringify(search));

  useEffect(() => {
    const text = JSON.stringify(search);
    if (text === written.current) return;
    written.current = text;
    setForm(loadForm(search, sessionStorage));
  }, [search]);

  const write = useDebouncedCallback((latest: CallForm) => {
    const next = readSearch({ ...saveForm(latest, draftId, sessionStorage) });
    written.current = JSON.stringify(next);
    void navigate({ search: next, replace: true });
  }, 200);

  const change: ChangeForm = (changes) => {
    const changed = { ...form, ...changes };
    setForm(changed);
    write(changed);
  };
  return [form, change];
}
