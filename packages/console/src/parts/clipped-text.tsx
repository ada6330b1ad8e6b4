import { cutText } from '@erp-proxy/contract';
import { Group, Text } from '@mantine/core';
import { CopyText } from './copy-text.tsx';

/** Longer texts are cut, so that a page stays fast. */
const LENGTH_MAX = 2_000;

interface ClippedTextProps {
  text: string;
  label: string;
}

/** Shows text from Odoo or from a caller as data. A long text is cut, and can be copied whole. */
export function ClippedText({ text, label }: ClippedTextProps) {
  if (text.length <= LENGTH_MAX) return <span className="data">{text}</span>;
  return (
    <>
      <span className="data">{cutText(text, LENGTH_MAX)}…</span>
      <Group gap={4}>
        <Text size="xs" c="dimmed">
          {text.length.toLocaleString('en')} characters
        </Text>
        <CopyText text={text} label={`Copy all of ${label}`} />
      </Group>
    </>
  );
}
