/** Shows read-only JSON, with lines that can be folded. */
import { Skeleton, VisuallyHidden } from '@mantine/core';
import { lazy, Suspense, useId } from 'react';

const CodeMirror = lazy(() => import('./code-mirror.tsx'));

interface JsonViewProps {
  /** The accessible name. */
  label: string;
  text: string;
  maxHeight?: number;
}

export function JsonView({ label, text, maxHeight = 560 }: JsonViewProps) {
  const labelId = useId();
  return (
    <>
      <VisuallyHidden id={labelId}>{label}</VisuallyHidden>
      <Suspense fallback={<Skeleton height={96} />}>
        <CodeMirror labelId={labelId} text={text} minHeight={0} maxHeight={maxHeight} />
      </Suspense>
    </>
  );
}
