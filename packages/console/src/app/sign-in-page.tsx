/** The page for a person who has not signed in, or cannot sign in. */
import { Alert, Anchor, Button, Center, Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { ROOT } from '../api/root.ts';
import { signIn, signOut } from '../api/session.ts';
import icon from './icon.svg';
import { SignInForm } from './sign-in-form.tsx';

export function SignInPage() {
  const failure = useCodeOfLink() ?? explainProblem();
  return (
    <Card title="Sign in">
      {failure !== null && <Alert color="orange">{failure}</Alert>}
      <SignInForm />
    </Card>
  );
}

/** For a person whom no rule gives a role. */
export function NoRolePage({ reason }: { reason: string }) {
  return (
    <Card title="You have no role">
      <Text>{reason}</Text>
      <Anchor href={`${ROOT}me`}>Your connections to Odoo</Anchor>
      <Button variant="default" onClick={() => void signOut()}>
        Sign out
      </Button>
    </Card>
  );
}

export function UnavailablePage({ reason }: { reason: string }) {
  return (
    <Card title="The console is not available">
      <Text>{reason}</Text>
      <Text size="sm" c="dimmed">
        The console needs the setting <Code>admin.token</Code> (<Code>ERP_PROXY_ADMIN_TOKEN</Code>), or an
        identity provider for operators. Set one of them, and restart the proxy.
      </Text>
    </Card>
  );
}

function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="xl" w="100%" maw={420}>
        <Stack gap="md">
          <Group gap="sm">
            <img src={icon} width={28} height={28} alt="" />
            <Title order={1} size="h3">
              {title}
            </Title>
          </Group>
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}

const PROBLEMS = new Map([
  ['denied', 'The identity provider did not let you in, or you went back.'],
  ['no_role', 'You have no role at this proxy. Ask its administrator for one.'],
  [
    'failed',
    'The answer of the identity provider is not valid. Try again; the log of the proxy has the cause.',
  ],
  ['expired', 'This sign-in took too long, or was used before. Sign in again.'],
  ['away', 'The identity provider does not answer. Try again later.'],
]);

/** Why signing in by the identity provider failed: the proxy names the cause in the address. */
function explainProblem(): string | null {
  return PROBLEMS.get(new URLSearchParams(location.search).get('problem') ?? '') ?? null;
}

/**
 * Signs in by the link that the proxy has printed: `/sign-in#code=…`. The code leaves the address bar at once. Returns
 * why signing in failed.
 */
function useCodeOfLink(): string | null {
  const navigate = useNavigate();
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    const code = new URLSearchParams(location.hash.slice(1)).get('code');
    if (code === null) return;
    history.replaceState(history.state, '', '/sign-in');
    signIn({ code }).then(
      () => navigate({ to: '/', replace: true }),
      (error: Error) => setFailure(error.message),
    );
  }, [navigate]);
  return failure;
}
