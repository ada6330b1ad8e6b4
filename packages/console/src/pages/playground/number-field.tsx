/** An input for a number that keeps what is typed until it is a number. */
import { NumberInput, type NumberInputProps } from '@mantine/core';
import { useState } from 'react';
import { readNumber } from './read-number.ts';

interface NumberFieldProps extends Omit<NumberInputProps, 'value' | 'onChange' | 'onBlur'> {
  /** Texts: empty, or a number with more digits than a number of the browser has. */
  value: number | string;
  onChange: (value: number | string) => void;
}

export function NumberField({ value, onChange, ...props }: NumberFieldProps) {
  /** A beginning such as `-` or `0.0` is not the number that it becomes. */
  const [typed, setTyped] = useState<number | string | null>(null);
  return (
    <NumberInput
      {...props}
      allowedDecimalSeparators={['.', ',']}
      value={typed ?? value}
      onChange={(entered) => {
        setTyped(entered);
        onChange(readNumber(entered));
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
