/** A field for JSON. CodeMirror loads when the first such field is shown. */
import { Box, Input, Skeleton } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useId, useState } from 'react';
import type { SuggestJson } from './complete-json.ts';
import type { JsonFault, Problem } from './find-problems.ts';

export type { JsonPlace, JsonSuggestion, SuggestJson } from './complete-json.ts';

const CodeMirror = lazy(() => import('./code-mirror.tsx'));

interface JsonEditorProps {
  label: string;
  description?: ReactNode;
  /** The text, valid or not. The next rendering after `onChange` must have the new text. */
  value: string;
  onChange: (text: string) => void;
  /** Suggests values for completion at a place of the text. */
  suggest?: SuggestJson | undefined;
  /**
   * Faults that the proxy has found, in the form of a problem's `faults`. This component finds syntax errors itself.
   */
  faults?: readonly JsonFault[] | undefined;
  /** Shown while the text is empty. */
  placeholder?: string | undefined;
  minHeight?: number;
  maxHeight?: number;
}

/** The distance to the texts above and below, as in other fields. */
const GAP = 'calc(var(--mantine-spacing-xs) / 2)';

/** A JSON input. The Tab key leaves it, Ctrl+Space completes, and F8 goes to the next problem. */
export function JsonEditor({
  label,
  description,
  value,
  onChange,
  suggest,
  faults,
  placeholder,
  minHeight = 96,
  maxHeight = 420,
}: JsonEditorProps) {
  const labelId = useId();
  const [problem, setProblem] = useState<Problem | null>(null);
  return (
    <Input.Wrapper
      label={label}
      description={description}
      labelElement="div"
      labelProps={{ id: labelId }}
      error={problem === null ? undefined : `Line ${problem.line}: ${problem.message}`}
      errorProps={{ role: 'status', className: 'data' }}
    >
      <Box my={GAP}>
        <Suspense fallback={<Skeleton height={minHeight} />}>
          <CodeMirror
            labelId={labelId}
            text={value}
            onChange={onChange}
            suggest={suggest}
            faults={faults}
            placeholder={placeholder}
            onProblem={setProblem}
            minHeight={minHeight}
            maxHeight={maxHeight}
          />
        </Suspense>
      </Box>
    </Input.Wrapper>
  );
}
