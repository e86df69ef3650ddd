import * as React from 'react';

import type { ServiceChange, ServiceCheck, ServiceState } from '../client/panel_rest';
import { messageOf } from '../client/problems';
import { Button, Icon } from '../ui/button';
import { useSignal, useTrans } from '../ui/hooks';
import type { Panel } from './ports';

interface ServiceFormProps {
  readonly panel: Panel;
  readonly service: ServiceState;
  readonly onClose: () => void;
}

type CheckOutcome =
  | { readonly kind: 'none' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'saved' }
  | { readonly kind: 'checked'; readonly checks: readonly ServiceCheck[] };

/** Which service answers: its address, a model, a key. The key goes to the server and stays there. */
function ServiceForm({ panel, service, onClose }: ServiceFormProps) {
  const trans = useTrans();
  const [change, setChange] = React.useState<ServiceChange>({});
  const [outcome, setOutcome] = React.useState<CheckOutcome>({ kind: 'none' });
  const isLocked = service.endpoints_locked;
  const hasChanges = Object.keys(change).length > 0;

  const work = async (task: () => Promise<CheckOutcome>): Promise<void> => {
    setOutcome({ kind: 'busy' });
    try {
      setOutcome(await task());
    } catch (error) {
      setOutcome({
        kind: 'failed',
        reason: messageOf(error)
      });
    }
  };
  const save = async (): Promise<void> => {
    if (hasChanges) {
      await panel.changeService(change);
      setChange({});
    }
  };
  const submit = (event: React.FormEvent): void => {
    event.preventDefault();
    void work(async () => {
      await save();
      return { kind: 'saved' };
    });
  };
  const test = (): void => {
    void work(async () => {
      await save();
      return { kind: 'checked', checks: await panel.rest.testService() };
    });
  };
  const keyNote =
    service.has_key && service.key_source !== ''
      ? trans.__('A key is set (%1). Leave this empty to keep it.', service.key_source)
      : trans.__('Kept by the server, never in the notebook or the browser.');
  return (
    <form className="cw-service" aria-label={trans.__('Model settings')} onSubmit={submit}>
      {isLocked && (
        <p className="cw-muted">{trans.__('Your administrator sets the endpoint and the key.')}</p>
      )}
      <Entry
        label={trans.__('Endpoint')}
        note={trans.__('Any OpenAI-compatible address')}
        value={change.base_url ?? (service.is_demo ? '' : service.base_url)}
        placeholder={trans.__('https://…/v1')}
        isDisabled={isLocked}
        onChange={base_url => {
          setChange({ ...change, base_url: base_url.trim() });
        }}
      />
      <Entry
        label={trans.__('Model')}
        note={
          service.models_allowed.length > 0
            ? trans.__('Allowed: %1', service.models_allowed.join(', '))
            : ''
        }
        value={change.model ?? (service.is_demo ? '' : service.model)}
        placeholder=""
        isDisabled={false}
        onChange={model => {
          setChange({ ...change, model: model.trim() });
        }}
      />
      <Entry
        label={trans.__('Key')}
        note={keyNote}
        value={change.api_key ?? ''}
        placeholder=""
        isSecret
        isDisabled={isLocked}
        onChange={key => {
          const others = { ...change };
          delete others.api_key;
          setChange(key === '' ? others : { ...others, api_key: key.trim() });
        }}
      />
      <div className="cw-row">
        <button type="submit" className="cw-button cw-mod-primary" disabled={!hasChanges}>
          <span>{trans.__('Save')}</span>
        </button>
        <Button onClick={test} disabled={outcome.kind === 'busy'}>
          {hasChanges ? trans.__('Save and test') : trans.__('Test')}
        </Button>
        <span className="cw-spring" />
        <Button kind="quiet" onClick={onClose}>
          {trans.__('Close')}
        </Button>
      </div>
      <OutcomeView outcome={outcome} />
    </form>
  );
}

interface EntryProps {
  readonly label: string;
  readonly note: string;
  readonly value: string;
  readonly placeholder: string;
  readonly isSecret?: boolean;
  readonly isDisabled: boolean;
  readonly onChange: (value: string) => void;
}

function Entry(props: EntryProps) {
  const { label, note, value, placeholder, isSecret = false, isDisabled, onChange } = props;
  const field = React.useId();
  const details = React.useId();
  return (
    <div className="cw-entry">
      <label htmlFor={field}>{label}</label>
      <input
        id={field}
        className="cw-field"
        type={isSecret ? 'password' : 'text'}
        autoComplete="off"
        spellCheck={false}
        value={value}
        placeholder={placeholder}
        disabled={isDisabled}
        {...(note !== '' && { 'aria-describedby': details })}
        onChange={event => {
          onChange(event.target.value);
        }}
      />
      {note !== '' && (
        <span id={details} className="cw-muted">
          {note}
        </span>
      )}
    </div>
  );
}

const CHECK_ICONS = { ok: 'check', warn: 'warning', blocked: 'error' } as const;

function OutcomeView({ outcome }: { outcome: CheckOutcome }) {
  const trans = useTrans();
  const words: Record<ServiceCheck['status'], string> = {
    ok: trans.__('Fine:'),
    warn: trans.__('Careful:'),
    blocked: trans.__('Does not work:')
  };
  return (
    <div role="status" className="cw-service-outcome">
      {outcome.kind === 'busy' && trans.__('Asking the service …')}
      {outcome.kind === 'saved' && trans.__('Saved.')}
      {outcome.kind === 'failed' && <p className="cw-problem">{outcome.reason}</p>}
      {outcome.kind === 'checked' && (
        <ul>
          {outcome.checks.map(check => (
            <li key={check.name} className={`cw-check cw-mod-${check.status}`}>
              <Icon name={CHECK_ICONS[check.status]} />
              <span>
                <span className="cw-hidden">{words[check.status]} </span>
                {check.text}
                {check.action !== '' && <span className="cw-muted"> {check.action}</span>}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface ServiceCardProps {
  readonly panel: Panel;
  /** The form was asked for. */
  readonly isOpen: boolean;
  /** Nothing was said yet, so there is room to say which model answers. */
  readonly isEmpty: boolean;
  readonly onOpen: () => void;
  readonly onClose: () => void;
}

/** Says that the demo model answers, and takes what is needed for another one. */
export function ServiceCard({ panel, isOpen, isEmpty, onOpen, onClose }: ServiceCardProps) {
  const trans = useTrans();
  const service = useSignal(panel.serviceChanged, () => panel.service);
  if (service === null || (!isOpen && !(service.is_demo && isEmpty))) {
    return null;
  }
  return (
    <section className="cw-service-card" aria-label={trans.__('Model')}>
      {service.is_demo && (
        <div className="cw-service-demo">
          <Icon name="info" />
          <p>
            <strong>{trans.__('The demo model answers.')}</strong>{' '}
            {trans.__('It follows rules and is no language model. Nothing leaves this computer.')}
          </p>
        </div>
      )}
      {isOpen ? (
        <ServiceForm panel={panel} service={service} onClose={onClose} />
      ) : (
        <Button icon="key" onClick={onOpen}>
          {trans.__('Use your own model')}
        </Button>
      )}
    </section>
  );
}
