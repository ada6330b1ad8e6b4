import { Anchor, Group, Paper, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ROOT, readProxyUrl } from '../../api/root.ts';
import { CallCode } from '../../parts/call-code.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import type { CallParts } from '../../parts/print-call.ts';

interface CodeStepProps {
  instance: string;
  keyId: string;
  call: CallParts;
}

export function CodeStep({ instance, keyId, call }: CodeStepProps) {
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
