import { Alert, Code, List, Text } from '@mantine/core';
import { ProblemError } from '../api/send.ts';
import { Icon } from './icon.tsx';

interface ProblemAlertProps {
  /** Null to show nothing. */
  error: Error | null;
  /** Without it, the alert stays until `error` is null. */
  onDismiss?: () => void;
}

/** Shows what went wrong, and what to do, until it is dismissed. */
export function ProblemAlert({ error, onDismiss }: ProblemAlertProps) {
  if (error === null) return null;
  const { title, detail, faults, requestId } = describe(error);
  return (
    <Alert
      color="red"
      role="alert"
      icon={<Icon name="warning" />}
      title={title}
      withCloseButton={onDismiss !== undefined}
      closeButtonLabel="Dismiss"
      onClose={() => onDismiss?.()}
    >
      <Text size="sm">{detail}</Text>
      {faults.length > 0 && (
        <List size="sm" mt="xs">
          {faults.map(({ path, message }) => (
            <List.Item key={`${path} ${message}`}>
              <Code>{path}</Code> {message}
            </List.Item>
          ))}
        </List>
      )}
      {requestId !== null && (
        <Text size="xs" mt="xs">
          Request <span className="data">{requestId}</span>
        </Text>
      )}
    </Alert>
  );
}

function describe(error: Error) {
  if (error instanceof ProblemError) {
    const { problem, requestId } = error;
    return { title: problem.title, detail: problem.detail, faults: problem.faults ?? [], requestId };
  }
  const detail = error instanceof TypeError ? 'The proxy does not answer. Is it running?' : error.message;
  return { title: 'The request failed', detail, faults: [], requestId: null };
}
