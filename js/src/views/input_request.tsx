import * as React from 'react';

import type { ChatState } from '../server/frames';
import { WhyNoAnswer } from './approval';
import { Icon } from './icon';
import { useTrans } from './scope';
import { useTurnActions } from './turn_actions';

interface InputRequestProps {
  readonly input: NonNullable<ChatState['input']>;
  readonly onSend: (value: string) => void;
}

/** A running cell called `input()` or `getpass()`: a box for the answer. */
export function InputRequest({ input, onSend }: InputRequestProps) {
  const trans = useTrans();
  const { canAnswer } = useTurnActions();
  const [value, setValue] = React.useState('');
  const field = React.useId();
  const submit = (event: React.FormEvent): void => {
    event.preventDefault();
    if (canAnswer) {
      onSend(value);
      setValue('');
    }
  };
  return (
    <form className="cw-input-request" onSubmit={submit}>
      <label htmlFor={field}>
        <Icon name="input" />
        <span>
          {input.prompt.trim() === '' ? trans.__('The running cell asks for input') : input.prompt}
        </span>
      </label>
      <WhyNoAnswer />
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
        <button type="submit" className="cw-button cw-mod-primary" aria-disabled={!canAnswer}>
          <span>{trans.__('Send')}</span>
        </button>
      </div>
    </form>
  );
}
