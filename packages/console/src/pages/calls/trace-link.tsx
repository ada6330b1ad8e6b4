/** Shows a trace id to copy, with a link if the person has entered the address of a trace viewer. */
import { ActionIcon, Anchor, Button, Popover, Stack, TextInput, Tooltip } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { CopyText } from '../../parts/copy-text.tsx';
import { Icon } from '../../parts/icon.tsx';
import { printTraceUrl, readTraceTemplate, saveTraceTemplate, TRACE_PLACE } from './trace-url.ts';

export function TraceLink({ traceId }: { traceId: string }) {
  const [template, setTemplate] = useState(readTraceTemplate);
  const [typed, setTyped] = useState(template);
  const [isOpen, setOpen] = useState(false);
  const url = printTraceUrl(template, traceId);
  const isValid = typed === '' || printTraceUrl(typed, traceId) !== null;
  const save = (event: FormEvent) => {
    event.preventDefault();
    saveTraceTemplate(typed);
    setTemplate(typed);
    setOpen(false);
  };
  return (
    <>
      <CopyText text={traceId} label="Copy the id of the trace" />
      {url !== null && (
        <Anchor href={url} target="_blank" rel="noreferrer">
          Open trace
        </Anchor>
      )}
      <Popover
        opened={isOpen}
        onChange={setOpen}
        position="bottom-end"
        shadow="md"
        trapFocus
        returnFocus
        width={320}
      >
        <Popover.Target>
          <Tooltip label="Set the address of the trace viewer">
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label="Set the address of the trace viewer"
              onClick={() => setOpen(!isOpen)}
            >
              <Icon name="link" size={16} />
            </ActionIcon>
          </Tooltip>
        </Popover.Target>
        <Popover.Dropdown>
          <form onSubmit={save}>
            <Stack gap="xs">
              <TextInput
                label="Address of a trace"
                description={`With ${TRACE_PLACE} in the place of the id. Only this browser keeps it.`}
                placeholder={`https://traces.example.com/trace/${TRACE_PLACE}`}
                value={typed}
                error={!isValid && `This is not an address of a web page with ${TRACE_PLACE}.`}
                onChange={(event) => setTyped(event.currentTarget.value.trim())}
                data-autofocus
              />
              <Button type="submit" size="xs" disabled={!isValid}>
                Save address
              </Button>
            </Stack>
          </form>
        </Popover.Dropdown>
      </Popover>
    </>
  );
}
