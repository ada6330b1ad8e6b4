import { useEffect, useRef } from 'react';

/** Closes a dialog when its request has succeeded. */
export function useCloseWhenDone(isPending: boolean, error: Error | null, close: () => void): void {
  const wasPending = useRef(false);
  useEffect(() => {
    if (wasPending.current && !isPending && error === null) close();
    wasPending.current = isPending;
  }, [isPending, error, close]);
}
