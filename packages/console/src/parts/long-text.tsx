import { cutText } from '@erp-proxy/contract';
import { Button, Code, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { CopyText } from './copy-text.tsx';

/** Longer texts would freeze the page's layout. */
const SHOWN_MAX = 4_000;
const STEP = 40_000;

/** Shows the beginning of a text from others, of any length. All of it can be copied. */
export function LongText({ text, label }: { text: string; label: string }) {
  const [shown, setShown] = useState(SHOWN_MAX);
  return (
    <>
      <Code
        block
        className="data"
        tabIndex={0}
        role="region"
        aria-label={label}
        mah={480}
        style={{ overflow: 'auto', whiteSpace: 'pre-wrap' }}
      >
        {cutText(text, shown)}
        {text.length > shown && '…'}
      </Code>
      <Group gap="xs" mt={4}>
        <CopyText text={text} label={`Copy ${label}`} />
        {text.length > shown && (
          <>
            <Text size="xs" c="dimmed">
              {shown.toLocaleString('en')} of {text.length.toLocaleString('en')} characters are shown
            </Text>
            <Button size="compact-xs" variant="subtle" onClick={() => setShown(shown + STEP)}>
              Show more
            </Button>
          </>
        )}
      </Group>
    </>
  );
}
