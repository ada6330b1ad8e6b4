import { Badge, Button, Group, Popover, ScrollArea, Stack, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Icon } from '../../parts/icon.tsx';
import { Time } from '../../parts/time.tsx';
import type { CallForm } from './call-form.ts';
import type { PastCall } from './call-history.ts';

interface HistoryButtonProps {
  calls: PastCall[];
  onOpen: (form: CallForm) => void;
  onClear: () => void;
}

/** Lists the last calls of this browser. A click puts one into the form. */
export function HistoryButton({ calls, onOpen, onClear }: HistoryButtonProps) {
  const [isOpen, { toggle, close }] = useDisclosure(false);
  return (
    <Popover
      opened={isOpen}
      onDismiss={close}
      width="min(440px, 92vw)"
      position="bottom-end"
      shadow="md"
      trapFocus
    >
      <Popover.Target>
        <Button variant="subtle" size="xs" leftSection={<Icon name="list" size={16} />} onClick={toggle}>
          History
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        {calls.length === 0 ? (
          <Text size="sm" c="dimmed">
            No calls yet. The last 50 calls of this browser appear here, without results and keys.
          </Text>
        ) : (
          <Stack gap="xs">
            <ScrollArea.Autosize mah={380}>
              {calls.map(({ at, form, outcome }) => (
                <UnstyledButton
                  key={at}
                  w="100%"
                  p={6}
                  className="past-call"
                  onClick={() => {
                    close();
                    onOpen(form);
                  }}
                >
                  <Group justify="space-between" wrap="nowrap" gap="xs">
                    <Text size="sm" className="data" truncate title={`${form.model}.${form.action}`}>
                      {form.model}.{form.action}
                    </Text>
                    <Badge variant="light" tt="none" color={outcome === 'ok' ? 'teal' : 'red'} flex="none">
                      {outcome.replaceAll('_', ' ')}
                    </Badge>
                  </Group>
                  <Text size="xs" c="dimmed" component="div">
                    {form.instance || form.url} · <Time at={at} />
                  </Text>
                </UnstyledButton>
              ))}
            </ScrollArea.Autosize>
            <Group>
              <Button size="compact-xs" variant="subtle" color="red" onClick={onClear}>
                Clear the history
              </Button>
            </Group>
          </Stack>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
