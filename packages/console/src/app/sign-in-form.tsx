import type { SignInView } from '@erp-proxy/contract';
import { Alert, Button, Code, Divider, PasswordInput, Stack, Text } from '@mantine/core';
import { type FormEvent, useEffect, useState } from 'react';
import { fetchWays, locateSignIn, resumeSession, signIn } from '../api/session.ts';

/**
 * Signs in by the identity provider, or with the admin token, as far as the proxy has them. `keepsPage`: the page below
 * must stay, so the provider opens in another one.
 */
export function SignInForm({ keepsPage = false }: { keepsPage?: boolean }) {
  const [ways, setWays] = useState<SignInView | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    const explain = (error: Error) => setFailure(explainError(error));
    fetchWays().then(setWays).catch(explain);
  }, []);
  return (
    <Stack gap="sm">
      {failure !== null && (
        <Alert color="red" withCloseButton closeButtonLabel="Dismiss" onClose={() => setFailure(null)}>
          {failure}
        </Alert>
      )}
      {ways?.provider != null && <ProviderButton name={ways.provider} keepsPage={keepsPage} />}
      {ways?.provider != null && ways.token && <Divider label="or" />}
      {ways?.token && <TokenForm onFailure={setFailure} isSecond={ways.provider !== null} />}
      {ways?.token && !keepsPage && (
        <Text size="sm" c="dimmed">
          Without the token at hand: <Code>npx erp-proxy console</Code> on the proxy’s machine prints a link
          that signs you in once.
        </Text>
      )}
    </Stack>
  );
}

function ProviderButton({ name, keepsPage }: { name: string; keepsPage: boolean }) {
  useEffect(() => {
    if (!keepsPage) return;
    const resume = () => void resumeSession();
    addEventListener('focus', resume);
    return () => removeEventListener('focus', resume);
  }, [keepsPage]);
  const label = `Sign in with ${name}`;
  if (!keepsPage) {
    return (
      <Button component="a" href={locateSignIn(location)} data-autofocus>
        {label}
      </Button>
    );
  }
  return (
    <>
      <Button component="a" href={locateSignIn({ pathname: '/', search: '' })} target="_blank" data-autofocus>
        {label}
      </Button>
      <Text size="sm" c="dimmed">
        Opens another page. Come back to this one when you have signed in.
      </Text>
    </>
  );
}

interface TokenFormProps {
  onFailure: (failure: string) => void;
  /** True: there is a better way to sign in. */
  isSecond: boolean;
}

/** A form that asks for the admin token. */
function TokenForm({ onFailure, isSecond }: TokenFormProps) {
  const [token, setToken] = useState('');
  const [isBusy, setBusy] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn({ token });
    } catch (error) {
      onFailure(explainError(error as Error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        <PasswordInput
          label="Admin token"
          description={
            isSecond
              ? 'For emergencies: it names nobody, and its use is reported'
              : 'The setting admin.token of the proxy'
          }
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
          autoComplete="current-password"
          required
          data-autofocus={!isSecond}
        />
        <Button type="submit" loading={isBusy} variant={isSecond ? 'default' : 'filled'}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}

function explainError(error: Error): string {
  return error instanceof TypeError ? 'The proxy does not answer.' : error.message;
}
