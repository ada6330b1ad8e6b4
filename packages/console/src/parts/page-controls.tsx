import { Button, Group } from '@mantine/core';

interface PageControlsProps {
  /** The cursor of the shown page; undefined on the first page. */
  cursor: string | undefined;
  /** The cursor of the next page; null if there is none. */
  next: string | null | undefined;
  onTurn: (cursor: string | undefined) => void;
}

/** Buttons to page through a list. Cursors lead forward only; the browser's Back returns to the previous page. */
export function PageControls({ cursor, next, onTurn }: PageControlsProps) {
  if (cursor === undefined && (next === null || next === undefined)) return null;
  return (
    <Group mt="sm" gap="xs">
      <Button variant="default" size="xs" disabled={cursor === undefined} onClick={() => onTurn(undefined)}>
        First page
      </Button>
      <Button
        variant="default"
        size="xs"
        disabled={next === null || next === undefined}
        onClick={() => onTurn(next ?? undefined)}
      >
        Next page
      </Button>
    </Group>
  );
}
