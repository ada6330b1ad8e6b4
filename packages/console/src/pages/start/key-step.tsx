import { type NewKeyView, type Policy, tryParse } from '@erp-proxy/contract';
import { Button, Group, Paper, Radio, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ProblemError } from '../../api/send.ts';
import { useAdminMutation } from '../../api/use-admin-mutation.ts';
import { AsCode } from '../../parts/as-code.tsx';
import { JsonEditor } from '../../parts/json-editor/json-editor.tsx';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { printJson } from '../../parts/print-json.ts';
import { printKeyCommand } from '../../parts/print-key-command.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { listStartTemplates, type StartTemplate } from './templates.ts';

interface KeyStepProps {
  instance: string;
  template: StartTemplate;
  onTemplateChange: (id: string) => void;
  onCreated: (id: string) => void;
}

/** Creates a key. A template is the first version of its policy, which can be changed. */
export function KeyStep({ instance, template, onTemplateChange, onCreated }: KeyStepProps) {
  const [name, setName] = useState('');
  const [typed, setTyped] = useState<{ template: string; text: string } | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [created, setCreated] = useState<NewKeyView | null>(null);
  const create = useAdminMutation<NewKeyView>(['/keys'], setCreated);
  const policy = typed?.template === template.id ? typed.text : printJson(template.policy);
  // The server reports all mistakes but those of JSON.
  const parsed = (tryParse(policy) ?? null) as Policy | null;
  const body = parsed === null ? null : { name: name.trim() || template.name, policy: parsed };
  const faults = create.error instanceof ProblemError ? create.error.problem.faults : undefined;

  return (
    <Paper withBorder p="md">
      <LeaveGuard isDirty={created === null && (name !== '' || typed !== null)} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (body === null) return setOpen(true);
          create.run({ method: 'POST', path: '/keys', body });
        }}
      >
        <Stack gap="md">
          <Radio.Group
            label="What is the key for?"
            value={template.id}
            onChange={(id) => onTemplateChange(id)}
          >
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="xs" mt={6}>
              {listStartTemplates(instance).map(({ id, name: label, purpose }) => (
                <Paper withBorder p="sm" key={id}>
                  <Radio value={id} label={label} description={purpose} />
                </Paper>
              ))}
            </SimpleGrid>
          </Radio.Group>
          <TextInput
            label="Name of the key"
            description="You see it in lists and in the audit"
            placeholder={template.name}
            maw={360}
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          {isOpen || faults !== undefined ? (
            <JsonEditor
              label="Policy"
              description="What calls with this key may do"
              value={policy}
              onChange={(text) => setTyped({ template: template.id, text })}
              faults={faults?.map(({ path, message }) => ({ path: path.replace(/^policy\.?/, ''), message }))}
            />
          ) : (
            <Group gap="xs">
              <Text size="sm">
                The key works for the instance <b className="data">{instance}</b> only.
              </Text>
              <Button size="compact-xs" variant="subtle" onClick={() => setOpen(true)}>
                Show and edit the policy
              </Button>
            </Group>
          )}
          <ProblemAlert error={create.error} onDismiss={create.reset} />
          <Group>
            <Button type="submit" loading={create.isPending}>
              Create key
            </Button>
            {body !== null && (
              <AsCode
                request={{ method: 'POST', path: '/keys', body }}
                command={printKeyCommand('keys create', body, Date.now())}
              />
            )}
          </Group>
        </Stack>
      </form>
      <SecretOnce
        title="Your new key"
        secret={created?.key ?? null}
        onClose={() => created !== null && onCreated(created.id)}
      />
    </Paper>
  );
}
