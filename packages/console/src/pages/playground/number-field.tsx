/** A number input that keeps the typed text until it is a number. */
import { NumberInput, type NumberInputProps } from '@mantine/core';
import { useState } from 'react';
import { readNumber } from './read-number.ts';

interface NumberFieldProps extends Omit<NumberInputProps, 'value' | 'onChange' | 'onBlur'> {
  /** A text if the field is empty, or if the number has more digits than a JavaScript number can hold. */
  value: number | string;
  onChange: (value: number | string) => void;
}

export function NumberField({ value, onChange, ...props }: NumberFieldProps) {
  /** The typed text: a beginning such as `-` or `0.0` differs from the number that it will be. */
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
