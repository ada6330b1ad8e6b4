/** The first steps: a server, a key, a call. A step can be left and continued, because the URL holds what was done. */
import { Stepper, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { LeaveGuard } from '../../parts/leave-guard.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { CallStep } from './call-step.tsx';
import { CodeStep } from './code-step.tsx';
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
