import { Box, Code } from '@mantine/core';
import { CopyText } from './copy-text.tsx';

/** Shows code with a button to copy it. Long lines scroll. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <Box pos="relative">
      <Code
        block
        tabIndex={0}
        role="region"
        aria-label={label}
        mah={420}
        style={{ overflow: 'auto', paddingRight: 40 }}
      >
        {code}
      </Code>
      <Box pos="absolute" top={4} right={4}>
        <CopyText text={code} label={`Copy ${label}`} />
      </Box>
    </Box>
  );
}
