import { Anchor, List, Stack, Tabs, Text } from '@mantine/core';
import { CodeBlock } from '../../parts/code-block.tsx';
import { Section } from '../../parts/section.tsx';
import { SAMPLES } from './receiver-samples.ts';

/** Explains how a receiver verifies that a delivery comes from this proxy. */
export function VerifySignatures() {
  return (
    <Stack gap="md" maw={860}>
      <Section title="Steps of the receiver">
        <List type="ordered" size="sm">
          <List.Item>Verify the signature with the bytes of the body.</List.Item>
          <List.Item>
            If it has processed the <span className="data">webhook-id</span> before, answer 2xx and do
            nothing.
          </List.Item>
          <List.Item>Process the change, and store the id with it.</List.Item>
          <List.Item>Answer with a status of 2xx within 15 seconds.</List.Item>
        </List>
        <Text size="sm" mt="sm">
          Deliveries follow{' '}
          <Anchor
            href="https://www.standardwebhooks.com/"
            target="_blank"
            rel="noreferrer"
            underline="always"
          >
            Standard Webhooks
          </Anchor>
          , whose libraries verify them, too. The page <span className="data">docs/webhooks.md</span> has the
          rest: types of deliveries, retries, order.
        </Text>
      </Section>
      <Section title="Code" purpose="The secret is in the variable WEBHOOK_SECRET.">
        <Tabs defaultValue={SAMPLES[0]?.language ?? null}>
          <Tabs.List mb="xs">
            {SAMPLES.map(({ language }) => (
              <Tabs.Tab key={language} value={language}>
                {language}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {SAMPLES.map(({ language, code }) => (
            <Tabs.Panel key={language} value={language}>
              <CodeBlock label={language} code={code} />
            </Tabs.Panel>
          ))}
        </Tabs>
      </Section>
    </Stack>
  );
}
