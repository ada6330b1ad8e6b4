/**
 * The pages of a person: `/me` lists the connections to Odoo that are their own, and `/connect/<instance>` makes one.
 * They need no role, and so have no frame. What they do is bound to who signed in, whatever the address says.
 */
import type {
  ConnectableView,
  ConnectionCheck,
  OwnApplications,
  OwnApplicationView,
  OwnConnections,
  OwnConnectionView,
  SignInView,
} from '@erp-proxy/contract';
import {
  Alert,
  Anchor,
  Button,
  Center,
  Group,
  List,
  Loader,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { sendAsPerson } from '../../api/me.ts';
import { ROOT } from '../../api/root.ts';
import { ProblemError } from '../../api/send.ts';
import { fetchWays, locateSignIn, signOut } from '../../api/session.ts';
import { findFault } from '../../parts/find-fault.ts';
import { ProblemAlert } from '../../parts/problem-alert.tsx';
import { revealInvisible } from '../../parts/show-json.ts';
import { Time } from '../../parts/time.tsx';

/** `instance` null: the list. */
export function MePage({ instance }: { instance: string | null }) {
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="lg" w="100%" maw={560}>
        {instance === null ? <ConnectionList /> : <ConnectPage instance={instance} />}
      </Paper>
    </Center>
  );
}

function ConnectionList() {
  const { data, error } = useQuery({
    queryKey: ['me'],
    queryFn: () => sendAsPerson<OwnConnections>('GET', '/connections'),
  });
  if (error !== null) return <Refused title="Your connections to Odoo" error={error} />;
  if (data === undefined) return <Waiting />;
  return (
    <Stack gap="md">
      <Title order={1} size="h3">
        Your connections to Odoo
      </Title>
      <WhoAmI {...data} />
      {data.connections.length === 0 && (
        <Text>You have none. When a program needs one, it shows you the page on which you connect.</Text>
      )}
      {data.connections.map((connection) => (
        <Paper key={connection.instance} withBorder p="sm">
          <Title order={2} size="h5" style={{ overflowWrap: 'anywhere' }}>
            <Anchor href={`${ROOT}connect/${encodeURIComponent(connection.instance)}`}>
              {connection.instance}
            </Anchor>
          </Title>
          <Connected connection={connection} />
        </Paper>
      ))}
      <Applications />
    </Stack>
  );
}

/** The applications that may act as the person. Nothing is shown while there are none. */
function Applications() {
  const { data, error } = useQuery({
    queryKey: ['me', 'applications'],
    queryFn: () => sendAsPerson<OwnApplications>('GET', '/applications'),
  });
  if (error !== null) return <ProblemAlert error={error} />;
  if (data === undefined || data.applications.length === 0) return null;
  return (
    <>
      <Title order={2} size="h4">
        Applications that act as you
      </Title>
      {data.applications.map((application) => (
        <Application key={application.id} application={application} />
      ))}
    </>
  );
}

function Application({ application: { id, name, address, used_at } }: { application: OwnApplicationView }) {
  const queryClient = useQueryClient();
  const [isSure, setSure] = useState(false);
  const withdraw = useMutation({
    mutationFn: () => sendAsPerson<void>('DELETE', `/applications/${encodeURIComponent(id)}`),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['me'] }),
  });
  return (
    <Paper withBorder p="sm">
      <Stack gap="xs">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          <strong>{revealInvisible(name)}</strong>, at{' '}
          <span className="data">{revealInvisible(address)}</span>, last used <Time at={used_at} />.
        </Text>
        <ProblemAlert error={withdraw.error} />
        <SureButton
          label="Withdraw…"
          sureLabel="Withdraw it now"
          isSure={isSure}
          onSure={setSure}
          isPending={withdraw.isPending}
          onConfirm={() => withdraw.mutate()}
        />
      </Stack>
    </Paper>
  );
}

interface SureButtonProps {
  label: string;
  sureLabel: string;
  isSure: boolean;
  onSure: (isSure: boolean) => void;
  isPending: boolean;
  onConfirm: () => void;
}

/** A button that asks before it acts. */
function SureButton({ label, sureLabel, isSure, onSure, isPending, onConfirm }: SureButtonProps) {
  if (!isSure) {
    return (
      <Group>
        <Button variant="default" size="xs" onClick={() => onSure(true)}>
          {label}
        </Button>
      </Group>
    );
  }
  return (
    <Group gap="xs">
      <Button color="red.9" size="xs" loading={isPending} onClick={onConfirm}>
        {sureLabel}
      </Button>
      <Button variant="subtle" size="xs" onClick={() => onSure(false)}>
        Keep it
      </Button>
    </Group>
  );
}

function ConnectPage({ instance }: { instance: string }) {
  const path = `/connections/${encodeURIComponent(instance)}`;
  const title = `Connect to ${revealInvisible(instance)}`;
  const own = useQuery({
    queryKey: ['me'],
    queryFn: () => sendAsPerson<OwnConnections>('GET', '/connections'),
  });
  const { data, error } = useQuery({
    queryKey: ['me', instance],
    queryFn: () => sendAsPerson<ConnectableView>('GET', path),
  });
  if (error !== null) return <Refused title={title} error={error} />;
  if (data === undefined) return <Waiting />;
  return (
    <Stack gap="md">
      <Title order={1} size="h3" style={{ overflowWrap: 'anywhere' }}>
        {title}
      </Title>
      {own.data !== undefined && <WhoAmI {...own.data} />}
      <Text size="sm">
        Programs and assistants that call{' '}
        <span className="data" style={{ overflowWrap: 'anywhere' }}>
          {data.db} at {data.url}
        </span>{' '}
        for you do so as your own user in Odoo, with your rights.
      </Text>
      {data.connection !== null && (
        <Paper withBorder p="sm">
          <Connected connection={data.connection} />
        </Paper>
      )}
      <ConnectForm path={path} isRenewal={data.connection !== null} />
      <Anchor href={`${ROOT}me`}>All your connections</Anchor>
    </Stack>
  );
}

function ConnectForm({ path, isRenewal }: { path: string; isRenewal: boolean }) {
  const queryClient = useQueryClient();
  const [login, setLogin] = useState('');
  const [apiKey, setApiKey] = useState('');
  const connect = useMutation({
    mutationFn: () => sendAsPerson<OwnConnectionView>('POST', path, { login, api_key: apiKey.trim() }),
    async onSuccess() {
      setApiKey('');
      await queryClient.invalidateQueries({ queryKey: ['me'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!connect.isPending) connect.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Title order={2} size="h5">
          {isRenewal ? 'Give another key' : 'Your user in Odoo'}
        </Title>
        <TextInput
          label="Login"
          description="What you type to sign in to Odoo, often your e-mail address"
          value={login}
          onChange={({ currentTarget }) => setLogin(currentTarget.value)}
          error={findFault(connect.error, 'login')}
          required
          autoComplete="username"
          spellCheck={false}
        />
        <PasswordInput
          label="API key"
          description="Not your password. The proxy keeps it sealed, and shows it to nobody."
          value={apiKey}
          onChange={({ currentTarget }) => setApiKey(currentTarget.value)}
          error={findFault(connect.error, 'api_key')}
          required
          autoComplete="off"
        />
        <div>
          <Text size="sm">You make a key in Odoo, from the menu of your user at the top right:</Text>
          <List size="sm">
            <List.Item>
              Odoo 14 and 15: Preferences, Account Security, Developer API Keys, New API Key
            </List.Item>
            <List.Item>Odoo 16 to 18: Preferences, Account Security, API Keys, New API Key</List.Item>
            <List.Item>Odoo 19 and later: Preferences, Security, API Keys, Add API Key</List.Item>
          </List>
        </div>
        {connect.isSuccess && (
          <Alert color="green" role="status">
            Connected as {revealInvisible(connect.data.login)}. Programs can call for you now.
          </Alert>
        )}
        <ProblemAlert error={connect.error} onDismiss={connect.reset} />
        <Group>
          <Button type="submit" loading={connect.isPending}>
            {isRenewal ? 'Check and replace' : 'Check and connect'}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Connected({ connection }: { connection: OwnConnectionView }) {
  const { instance, login, state, key_expires_at, key_renewed } = connection;
  const path = `/connections/${encodeURIComponent(instance)}`;
  const queryClient = useQueryClient();
  const [isSure, setSure] = useState(false);
  const test = useMutation({ mutationFn: () => sendAsPerson<ConnectionCheck>('POST', `${path}/test`) });
  const remove = useMutation({
    mutationFn: () => sendAsPerson<void>('DELETE', path),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['me'] }),
  });
  return (
    <Stack gap="xs">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        Connected as <strong>{revealInvisible(login)}</strong>
        {key_expires_at !== null && (
          <>
            , with a key that ends <Time at={key_expires_at} />
            {key_renewed && ' and that the proxy replaces before'}
          </>
        )}
        .
      </Text>
      {key_expires_at !== null && Date.parse(key_expires_at) - Date.now() < SOON_MS && (
        <Alert color="orange">
          {key_renewed
            ? 'The proxy has not replaced your key yet. If it ends, make another one in Odoo, and connect again with it.'
            : 'Your key ends soon, and Odoo refuses it then. Make another one in Odoo, and connect again with it.'}
        </Alert>
      )}
      {state === 'moved' && (
        <Alert color="orange">
          The server of this instance was changed, so that your key is not used any more. Connect again.
        </Alert>
      )}
      {test.data !== undefined && (
        <Alert color={test.data.ok ? 'green' : 'red'} role="status">
          {revealInvisible(test.data.text)}
        </Alert>
      )}
      <ProblemAlert error={test.error ?? remove.error} />
      <Group gap="xs">
        <Button variant="default" size="xs" loading={test.isPending} onClick={() => test.mutate()}>
          Test
        </Button>
        <SureButton
          label="Remove…"
          sureLabel="Remove it now"
          isSure={isSure}
          onSure={setSure}
          isPending={remove.isPending}
          onConfirm={() => remove.mutate()}
        />
      </Group>
      {isSure && <Text size="sm">Your key in Odoo stays; remove it there, too.</Text>}
    </Stack>
  );
}

/** The time before the end of a key from which its person is warned: that of the warnings for operators. */
const SOON_MS = 14 * 86_400_000;

function WhoAmI({ person, name }: Pick<OwnConnections, 'person' | 'name'>) {
  const queryClient = useQueryClient();
  const leave = useMutation({ mutationFn: signOut, onSettled: () => queryClient.resetQueries() });
  return (
    <Group justify="space-between" gap="xs" wrap="nowrap" align="flex-start">
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        You are signed in as {revealInvisible(name)} (<span className="data">{revealInvisible(person)}</span>
        ).
      </Text>
      <Button
        variant="default"
        size="xs"
        style={{ flexShrink: 0 }}
        loading={leave.isPending}
        onClick={() => leave.mutate()}
      >
        Sign out
      </Button>
    </Group>
  );
}

function Waiting() {
  return (
    <Center>
      <Loader aria-label="Loading" />
    </Center>
  );
}

/** Leads to the identity provider if that helps. */
function Refused({ title, error }: { title: string; error: Error }): ReactNode {
  const status = error instanceof ProblemError ? error.problem.status : 0;
  const needsPerson = status === 401 || status === 403;
  const ways = useQuery({ queryKey: ['ways'], queryFn: () => fetchWays(), enabled: needsPerson });
  return (
    <Stack gap="md">
      <Title order={1} size="h3" style={{ overflowWrap: 'anywhere' }}>
        {title}
      </Title>
      {status === 401 ? (
        <Text>Sign in first, so that your connection belongs to you.</Text>
      ) : (
        <ProblemAlert error={error} />
      )}
      {needsPerson && <ProviderLink ways={ways.data} error={ways.error} />}
    </Stack>
  );
}

function ProviderLink({ ways, error }: { ways: SignInView | undefined; error: Error | null }) {
  if (ways === undefined && error === null) return <Waiting />;
  if (ways?.provider == null) {
    return <Text>This proxy has no identity provider to sign in by. Ask its operator.</Text>;
  }
  return (
    <Button component="a" href={locateSignIn(location)}>
      Sign in with {ways.provider}
    </Button>
  );
}
