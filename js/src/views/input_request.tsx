import * as React from 'react';

import type { ChatState } from '../server/frames';
import { Icon } from './icon';
import { useTrans } from './scope';

interface InputRequestProps {
  readonly input: NonNullable<ChatState['input']>;
  readonly onSend: (value: string) => void;
}

/** A running cell called `input()` or `getpass()`: a box for the answer. */
export function InputRequest({ input, onSend }: InputRequestProps) {
  const trans = useTrans();
  const [value, setValue] = React.useState('');
  const field = React.useId();
  const submit = (event: React.FormEvent): void => {
    event.preventDefault();
    onSend(value);
    setValue('');
  };
  return (
    <form className="cw-input-request" onSubmit={submit}>
      <label htmlFor={field}>
        <Icon name="input" />
        <span>
          {input.prompt.trim() === '' ? trans.__('The running cell asks for input') : input.prompt}
        </span>
      </label>
      <div className="cw-row">
        <input
          id={field}
          className="cw-field"
          type={input.password ? 'password' : 'text'}
          autoComplete="off"
          value={value}
          onChange={event => {
            setValue(event.target.value);
          }}
        />
        <button type="submit" className="cw-button cw-mod-primary">
          <span>{trans.__('Send')}</span>
        </button>
      </div>
    </form>
  );
}
