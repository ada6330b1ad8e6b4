/** The first steps: a server, a key, a call. A step can be left and continued, because the URL holds what was done. */
import { Anchor, Group, Paper, Stack, Stepper, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ROOT, readProxyUrl } from '../../api/root.ts';
import { CallCode } from '../../parts/call-code.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import type { CallParts } from '../../parts/print-call.ts';
import { CallStep } from './call-step.tsx';
import { KeyStep } from './key-step.tsx';
import { STEPS, type StepName, startRoute } from './route.ts';
import { readDraft, type ServerDraft, writeDraft } from './server-draft.ts';
import { ServerStep } from './server-step.tsx';
import { findTemplate } from './templates.ts';
import { TestStep } from './test-step.tsx';

const LABELS: Record<StepName, string> = {
  server: 'Server',
  test: 'Test',
  key: 'Key',
  call: 'First call',
  code: 'Code',
};

export function StartPage() {
  const search = startRoute.useSearch();
  const navigate = useNavigate({ from: startRoute.fullPath });
  const [draft, setDraft] = useState(() => readDraft(sessionStorage));
  const isNarrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const step = chooseStep(search, draft);
  const { instance = '', key = '' } = search;
  const template = findTemplate(search.template, instance);

  const go = (changes: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, ...changes }) });
  const changeDraft = (next: ServerDraft) => {
    setDraft(next);
    writeDraft(next, sessionStorage);
  };

  return (
    <>
      {/* Asks before leaving, because the browser does not keep the key. */}
      <LeaveGuard isDirty={draft.apiKey !== ''} />
      <PageHeader
        title="Start"
        purpose="Connect an Odoo server, and make the first call with a key of your own."
      />
      <Stepper
        active={STEPS.indexOf(step)}
        onStepClick={(index) => go({ step: STEPS[index] })}
        allowNextStepsSelect={false}
        size="sm"
        wrap={false}
        contentPadding="lg"
        maw={960}
      >
        {STEPS.map((name, index) => (
          <Stepper.Step
            key={name}
            label={isNarrow ? null : LABELS[name]}
            {...(isNarrow ? { 'aria-label': `${index + 1} ${LABELS[name]}` } : {})}
            aria-current={name === step ? 'step' : undefined}
          />
        ))}
      </Stepper>
      {isNarrow && (
        <Text fw={600} mt="sm">
          {LABELS[step]}
        </Text>
      )}
      <div className="start-step">
        {step === 'server' && (
          <ServerStep
            draft={draft}
            onChange={changeDraft}
            onTest={() => go({ step: 'test', instance: undefined })}
            onChoose={(name) => go({ step: 'key', instance: name })}
          />
        )}
        {step === 'test' && (
          <TestStep
            draft={draft}
            onBack={() => go({ step: 'server' })}
            onSaved={(name) => {
              changeDraft({ ...draft, apiKey: '' });
              go({ step: 'key', instance: name });
            }}
          />
        )}
        {step === 'key' && (
          <KeyStep
            instance={instance}
            template={template}
            onTemplateChange={(id) => go({ template: id })}
            onCreated={(id) => go({ step: 'call', key: id })}
          />
        )}
        {step === 'call' && (
          <CallStep
            instance={instance}
            keyId={key}
            call={template.firstCall}
            onDone={() => go({ step: 'code' })}
          />
        )}
        {step === 'code' && <CodeStep instance={instance} keyId={key} call={template.firstCall} />}
      </div>
    </>
  );
}

/** The step in the URL, or an earlier one that is not done yet. */
function chooseStep(
  {
    step = 'server',
    instance,
    key,
  }: { step?: StepName | undefined; instance?: string | undefined; key?: string | undefined },
  draft: ServerDraft,
): StepName {
  if (step === 'server') return 'server';
  if (step === 'test') return draft.apiKey === '' ? 'server' : 'test';
  if (instance === undefined) return 'server';
  return step !== 'key' && key === undefined ? 'key' : step;
}

interface CodeStepProps {
  instance: string;
  keyId: string;
  call: CallParts;
}

function CodeStep({ instance, keyId, call }: CodeStepProps) {
  return (
    <Paper withBorder p="md">
      <Stack gap="md">
        <Text size="sm">Put your key into a variable, and run the call in the language of your program.</Text>
        <CodeBlock label="variable" code="export ERP_PROXY_KEY='<your key>'" />
        <CallCode
          origin={readProxyUrl()}
          call={call}
          instance={{ name: instance }}
          areValuesNormalized={false}
        />
        <Group gap="md">
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link
                to="/playground"
                search={{
                  instance,
                  key: keyId,
                  model: call.model_id,
                  action: call.action,
                  args: { fields: JSON.stringify(call.keyword['fields']), limit: '20' },
                }}
                {...props}
              />
            )}
          >
            Go on in the playground
          </Anchor>
          <Anchor size="sm" href={`${ROOT}docs`} target="_blank" rel="noreferrer">
            Read the API reference
          </Anchor>
        </Group>
      </Stack>
    </Paper>
  );
}
