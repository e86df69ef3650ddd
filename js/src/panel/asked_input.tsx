import * as React from 'react';

import { Icon } from '../ui/button';
import { useTrans } from '../ui/hooks';
import type { ChatState, FormField, FormRequest as Form } from '../wire/generated';
import { WhyNoAnswer } from './approval';
import { useTurnActions } from './turn_actions';

interface InputRequestProps {
  readonly input: NonNullable<ChatState['input']>;
  readonly onSend: (value: string) => void;
}

/** What a cell or a service that works asks the person. */
export function Asked({ input, onSend }: InputRequestProps) {
  return input.form === null ? (
    <InputRequest input={input} onSend={onSend} />
  ) : (
    <FormRequest form={input.form} onSend={onSend} />
  );
}

/** A running cell called `input()` or `getpass()`: a box for the answer. */
function InputRequest({ input, onSend }: InputRequestProps) {
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

type Given = Readonly<Record<string, readonly string[]>>;
type Action = 'accept' | 'decline' | 'cancel';

interface FormRequestProps {
  readonly form: Form;
  readonly onSend: (value: string) => void;
}

/** A service wants something of the person while it works: values, or to open an address. */
function FormRequest({ form, onSend }: FormRequestProps) {
  const trans = useTrans();
  const { canAnswer } = useTurnActions();
  const [given, setGiven] = React.useState<Given>(() =>
    Object.fromEntries(form.fields.map(field => [field.name, field.given]))
  );
  const send = (action: Action): void => {
    if (canAnswer) {
      onSend(JSON.stringify({ action, content: action === 'accept' ? given : {} }));
    }
  };
  const title = React.useId();
  return (
    <form
      className="cw-input-request cw-form-request"
      aria-labelledby={title}
      onSubmit={event => {
        event.preventDefault();
        send('accept');
      }}
    >
      <div id={title} className="cw-form-title">
        <Icon name="input" />
        <span>{trans.__('The MCP server "%1" asks:', form.server)}</span>
      </div>
      <div className="cw-form-message" dir="auto">
        {form.message}
      </div>
      {form.url !== '' && <FormAddress url={form.url} />}
      {form.fields.map(field => (
        <FormLine
          key={field.name}
          field={field}
          given={given[field.name] ?? []}
          onGive={texts => {
            setGiven(now => ({ ...now, [field.name]: texts }));
          }}
        />
      ))}
      {form.problem !== '' && (
        <div className="cw-form-problem" role="alert">
          <Icon name="warning" />
          <span>{form.problem}</span>
        </div>
      )}
      <WhyNoAnswer />
      <div className="cw-form-buttons">
        <button type="submit" className="cw-button cw-mod-primary" aria-disabled={!canAnswer}>
          <span>{form.url === '' ? trans.__('Accept') : trans.__('I have opened it')}</span>
        </button>
        <FormButton label={trans.__('Decline')} action="decline" onClick={send} />
        <FormButton label={trans.__('Cancel')} action="cancel" onClick={send} />
      </div>
      <div className="cw-muted">
        {trans.__('What you give goes to this server alone, not to the model.')}
      </div>
    </form>
  );
}

interface FormButtonProps {
  readonly label: string;
  readonly action: Action;
  readonly onClick: (action: Action) => void;
}

function FormButton({ label, action, onClick }: FormButtonProps) {
  const { canAnswer } = useTurnActions();
  return (
    <button
      type="button"
      className="cw-button"
      aria-disabled={!canAnswer}
      onClick={() => {
        onClick(action);
      }}
    >
      <span>{label}</span>
    </button>
  );
}

/** The whole address, and its host by itself; nothing but a click opens it. */
function FormAddress({ url }: { readonly url: string }) {
  const trans = useTrans();
  return (
    <div className="cw-form-address">
      <code>{url}</code>
      <a className="cw-md-link" href={url} target="_blank" rel="noopener noreferrer">
        {trans.__('Open %1', new URL(url).host)}
      </a>
    </div>
  );
}

interface FormLineProps {
  readonly field: FormField;
  readonly given: readonly string[];
  readonly onGive: (texts: readonly string[]) => void;
}

function FormLine(props: FormLineProps) {
  const { field } = props;
  const id = React.useId();
  const about = field.description !== '' && (
    <span className="cw-muted" id={`${id}-about`}>
      {field.description}
    </span>
  );
  if (field.kind === 'choices') {
    return (
      <fieldset className="cw-asked-line">
        <legend>
          <FieldTitle field={field} />
        </legend>
        {about}
        <FormChoices {...props} />
      </fieldset>
    );
  }
  return (
    <div className={`cw-asked-line${field.kind === 'boolean' ? ' cw-mod-check' : ''}`}>
      <label htmlFor={id}>
        <FieldTitle field={field} />
      </label>
      {about}
      <FormInput {...props} id={id} />
    </div>
  );
}

function FieldTitle({ field }: { readonly field: FormField }) {
  const trans = useTrans();
  const optional = field.required ? '' : ` (${trans.__('optional')})`;
  return (
    <>
      {field.title}
      {field.kind !== 'boolean' && <span className="cw-muted">{optional}</span>}
    </>
  );
}

function FormChoices({ field, given, onGive }: FormLineProps) {
  return field.options.map(option => (
    <label key={option.value} className="cw-form-choice">
      <input
        type="checkbox"
        checked={given.includes(option.value)}
        onChange={event => {
          const others = given.filter(value => value !== option.value);
          onGive(event.target.checked ? [...others, option.value] : others);
        }}
      />
      {option.title}
    </label>
  ));
}

/** What browsers help with; the server looks at every value in any case. */
const INPUT_TYPES: Partial<Record<string, string>> = { email: 'email', uri: 'url', date: 'date' };

function FormInput({ field, given, onGive, id }: FormLineProps & { readonly id: string }) {
  const value = given[0] ?? '';
  const common = {
    id,
    'aria-describedby': field.description === '' ? undefined : `${id}-about`
  };
  if (field.kind === 'boolean') {
    return (
      <input
        {...common}
        type="checkbox"
        checked={value === 'true'}
        onChange={event => {
          onGive([String(event.target.checked)]);
        }}
      />
    );
  }
  const give = (event: { readonly target: { readonly value: string } }): void => {
    onGive(event.target.value === '' ? [] : [event.target.value]);
  };
  if (field.kind === 'choice') {
    return (
      <select {...common} className="cw-field" value={value} onChange={give}>
        <option value="" />
        {field.options.map(option => (
          <option key={option.value} value={option.value}>
            {option.title}
          </option>
        ))}
      </select>
    );
  }
  return (
    <input
      {...common}
      className="cw-field"
      type={INPUT_TYPES[field.format] ?? 'text'}
      inputMode={field.kind === 'number' ? 'decimal' : undefined}
      autoComplete="off"
      required={field.required}
      value={value}
      onChange={give}
    />
  );
}
