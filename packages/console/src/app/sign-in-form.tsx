import { Alert, Button, PasswordInput, Stack } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { signIn } from '../api/session.ts';

/** A form that asks for the admin token. */
export function SignInForm() {
  const [token, setToken] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn({ token });
    } catch (error) {
      setFailure(error instanceof TypeError ? 'The proxy does not answer.' : (error as Error).message);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="sm">
        {failure !== null && (
          <Alert color="red" withCloseButton closeButtonLabel="Dismiss" onClose={() => setFailure(null)}>
            {failure}
          </Alert>
        )}
        <PasswordInput
          label="Admin token"
          description="The setting admin.token of the proxy"
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
          autoComplete="current-password"
          required
          data-autofocus
        />
        <Button type="submit" loading={isBusy}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
