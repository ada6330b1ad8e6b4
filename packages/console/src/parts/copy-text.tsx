import { ActionIcon, CopyButton, Tooltip } from '@mantine/core';
import { Icon } from './icon.tsx';

/** A button that copies a text. */
export function CopyText({ text, label = 'Copy' }: { text: string; label?: string }) {
  return (
    <CopyButton value={text} timeout={1_500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : label}>
          <ActionIcon variant="subtle" color={copied ? 'teal' : 'gray'} aria-label={label} onClick={copy}>
            <Icon name={copied ? 'check' : 'copy'} size={16} />
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}
