import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  ProviderList,
  ProviderOffer,
  ServiceChange,
  ServiceCheck,
  ServiceState
} from '../client/panel_rest';
import type { Json, JsonObject } from '../wire/generated';
import { problemOf } from '../client/problems';
import { Button, Icon, IconButton } from '../ui/button';
import { takeAnswer, useFocus, useSignal, useTrans } from '../ui/hooks';
import { ModelOptions, useActiveOption } from './pickers';
import type { Panel } from './ports';
import { type AskedService, describeProblem, type ServiceProblem } from './service_problems';

/** What is chosen where it is no provider of the list. */
const OTHER = 'other';
const DEMO = 'demo';
const DEMO_MODEL = 'cellwright-demo';
const KNOBS = [
  'reasoning_effort',
  'verbosity',
  'max_output_tokens',
  'temperature',
  'top_p',
  'seed',
  'service_tier'
] as const;

type Knob = (typeof KNOBS)[number];

const TEXT_KNOBS: readonly Knob[] = ['reasoning_effort', 'verbosity', 'service_tier'];

/** What the person chose and did not save; the key is forgotten as soon as it is saved. */
interface ServiceDraft {
  /** Address of a provider's row as it was offered, `other`, `demo`, or empty: nothing yet. */
  readonly choice: string;
  readonly base_url: string;
  readonly api_key: string;
  readonly model: string;
  /** As they were typed. */
  readonly knobs: Readonly<Partial<Record<Knob, string>>>;
}

type Listing =
  | { readonly kind: 'none' | 'busy' }
  | { readonly kind: 'listed'; readonly names: readonly string[] }
  | { readonly kind: 'failed'; readonly problem: ServiceProblem };

type Outcome =
  | { readonly kind: 'none' | 'busy' | 'saved' }
  | { readonly kind: 'works'; readonly caution: ServiceProblem | null }
  | { readonly kind: 'failed'; readonly problem: ServiceProblem };

const NOTHING = { kind: 'none' } as const;

function rowKey(row: ProviderOffer): string {
  return `${row.name} ${row.base_url}`;
}

function findRow(list: ProviderList, choice: string): ProviderOffer | null {
  return list.providers.find(row => rowKey(row) === choice) ?? null;
}

function draftOf(service: ServiceState, list: ProviderList): ServiceDraft {
  const row = list.providers.find(({ base_url }) => base_url === service.base_url);
  const isNew = service.is_demo || service.base_url === '';
  const knobs = Object.fromEntries(KNOBS.map(name => [name, shownKnob(service.parameters[name])]));
  return {
    choice: isNew ? '' : row === undefined ? OTHER : rowKey(row),
    base_url: isNew ? '' : service.base_url,
    api_key: '',
    model: isNew ? '' : service.model,
    knobs
  };
}

function shownKnob(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** All parameters that are to be sent; those that the form does not show stay. */
function parametersOf(service: ServiceState, { knobs }: ServiceDraft): JsonObject {
  const given: JsonObject = { ...service.parameters };
  for (const name of KNOBS) {
    const typed = (knobs[name] ?? '').trim();
    given[name] = TEXT_KNOBS.includes(name) || typed === '' ? typed : Number(typed);
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
}

/** What to tell the server; what stays as it is is left out. */
function changeOf(service: ServiceState, draft: ServiceDraft, list: ProviderList): ServiceChange {
  const parameters = parametersOf(service, draft);
  if (draft.choice === DEMO) {
    return { model: DEMO_MODEL, parameters };
  }
  const isSame = !service.is_demo && draft.base_url === service.base_url;
  return {
    ...(!isSame && { base_url: draft.base_url.trim() }),
    ...(list.set_model === '' && { model: draft.model.trim() }),
    ...(draft.api_key !== '' && { api_key: draft.api_key.trim() }),
    parameters
  };
}

interface ModelSettingsProps {
  readonly panel: Panel;
  readonly onClose: () => void;
}

/** Which model answers: choose a provider, give its key, choose a model, test it. */
export function ModelSettings({ panel, onClose }: ModelSettingsProps) {
  const trans = useTrans();
  const service = useSignal(panel.serviceChanged, () => panel.service);
  const isAsked = useSignal(panel.problemChanged, () => panel.problem === null);
  const [list, setList] = React.useState<ProviderList | null>(null);
  const [problem, setProblem] = React.useState('');
  React.useEffect(
    () =>
      takeAnswer(panel.rest.providers(), setList, error => {
        setProblem(problemOf(error).message);
      }),
    [panel]
  );
  return (
    <div
      className="cw-model-settings"
      onKeyDown={event => {
        if (event.key === 'Escape' && !event.nativeEvent.isComposing) {
          event.stopPropagation();
          onClose();
        }
      }}
    >
      <div className="cw-header">
        <IconButton icon="chevron_left" label={trans.__('Back to the chat')} onClick={onClose} />
        <h2 className="cw-title">{trans.__('Model settings')}</h2>
      </div>
      {problem !== '' && (
        <p className="cw-problem" role="alert">
          {problem}
        </p>
      )}
      {service === null || list === null ? (
        problem === '' && isAsked && <p className="cw-phase">{trans.__('Looking for models …')}</p>
      ) : (
        <SettingsForm panel={panel} service={service} list={list} onClose={onClose} />
      )}
    </div>
  );
}

interface SettingsFormProps extends ModelSettingsProps {
  readonly service: ServiceState;
  readonly list: ProviderList;
}

function SettingsForm({ panel, service, list, onClose }: SettingsFormProps) {
  const trans = useTrans();
  const form = useServiceForm(panel, service, list);
  const { draft, change } = form;
  const isAsked = draft.choice !== '' && draft.choice !== DEMO;
  return (
    <form
      className="cw-service"
      aria-label={trans.__('Model settings')}
      onSubmit={event => {
        event.preventDefault();
        form.test();
      }}
    >
      {!list.any_address && (
        <p className="cw-muted">{trans.__('Whoever runs this server chose what may be used.')}</p>
      )}
      <ol className="cw-setup-steps">
        <li>
          <ProviderField list={list} choice={draft.choice} onChoose={form.choose} />
          <AddressField form={form} list={list} />
        </li>
        {isAsked && (
          <>
            <li>
              <KeyStep form={form} />
            </li>
            <li>
              <ModelField
                model={draft.model}
                isSet={list.set_model !== ''}
                allowed={service.models_allowed}
                listing={form.listing}
                onChange={model => {
                  change({ model });
                }}
              />
            </li>
          </>
        )}
        {draft.choice !== '' && (
          <li>
            <TestStep form={form} onAsk={onClose} />
          </li>
        )}
      </ol>
      {isAsked && (
        <Knobs
          knobs={draft.knobs}
          onChange={knobs => {
            change({ knobs: { ...draft.knobs, ...knobs } });
          }}
        />
      )}
    </form>
  );
}

interface PartProps {
  readonly form: ReturnType<typeof useServiceForm>;
}

/** The address, where the provider's row does not say all of it. */
function AddressField({ form, list }: PartProps & { readonly list: ProviderList }) {
  const trans = useTrans();
  const { draft, row } = form;
  if (draft.choice !== OTHER && (row === null || !isAddressAsked(row, list))) {
    return null;
  }
  const note =
    row?.base_url === ''
      ? trans.__('It looks like %1', row.example)
      : trans.__('Of a service that speaks as OpenAI does');
  return (
    <Entry
      label={trans.__('Address')}
      note={note}
      value={draft.base_url}
      placeholder={trans.__('https://…/v1')}
      onChange={base_url => {
        form.change({ base_url });
      }}
      onEnter={form.showModels}
    />
  );
}

function KeyStep({ form }: PartProps) {
  const trans = useTrans();
  const { draft, row, listing } = form;
  return (
    <>
      <KeyField
        value={draft.api_key}
        isSet={row?.is_key_set === true}
        hasCredentials={row?.has_credentials === true && !form.hasKey}
        isKept={form.hasKey && draft.api_key === ''}
        place={form.keyPlace}
        isNeeded={row?.needs_key === true}
        onChange={(api_key, isPasted) => {
          form.change({ api_key });
          if (isPasted) {
            form.showModels({ api_key });
          }
        }}
        onEnter={form.showModels}
      />
      <div className="cw-row">
        <Button
          icon="list"
          aria-disabled={draft.base_url === '' || listing.kind === 'busy'}
          onClick={() => {
            form.showModels();
          }}
        >
          {trans.__('Show models')}
        </Button>
      </div>
      <div role="status" className="cw-service-outcome">
        {listing.kind === 'busy' && trans.__('Asking the service …')}
        {listing.kind === 'failed' && <ProblemView problem={listing.problem} />}
      </div>
    </>
  );
}

function TestStep({ form, onAsk }: PartProps & { readonly onAsk: () => void }) {
  const trans = useTrans();
  const { draft, outcome } = form;
  const isDemo = draft.choice === DEMO;
  const isDone = outcome.kind === 'saved' || outcome.kind === 'works';
  return (
    <>
      <strong>{isDemo ? trans.__('Save') : trans.__('Test')}</strong>
      {!isDemo && (
        <p className="cw-muted">
          {trans.__('One short question is sent. It can cost a fraction of a cent.')}
        </p>
      )}
      <div className="cw-row">
        {!isDemo && (
          <button
            type="submit"
            className={`cw-button cw-mod-${isDone ? 'plain' : 'primary'}`}
            aria-disabled={!form.canSave}
          >
            <span>{trans.__('Test and save')}</span>
          </button>
        )}
        <Button
          kind={isDemo && !isDone ? 'primary' : 'plain'}
          aria-disabled={!form.canSave}
          onClick={form.save}
        >
          {trans.__('Save')}
        </Button>
      </div>
      <OutcomeView outcome={outcome} model={draft.model} onAsk={onAsk} />
    </>
  );
}

/** Servers of one's own listen where they were told to, and some addresses have parts to fill in. */
function isAddressAsked(row: ProviderOffer, list: ProviderList): boolean {
  return list.any_address && (row.base_url === '' || row.port > 0);
}

/** The state of the form, and what can be done with it. */
function useServiceForm(panel: Panel, service: ServiceState, list: ProviderList) {
  const trans = useTrans();
  const [draft, setDraft] = React.useState(() => draftOf(service, list));
  const [listing, setListing] = React.useState<Listing>(NOTHING);
  const [outcome, setOutcome] = React.useState<Outcome>(NOTHING);
  const asked = React.useRef(0);
  const worked = React.useRef(0);
  const row = findRow(list, draft.choice);
  const isCurrent = !service.is_demo && draft.base_url === service.base_url;
  const isOwnAddress = row !== null && draft.base_url === row.base_url;
  const hasKey =
    draft.api_key !== '' || (isOwnAddress && row.has_key) || (isCurrent && service.has_key);
  const isOfService = isCurrent && service.has_key;
  const keyPlace = isOfService ? service.key_source : list.new_key_place;
  const isWhole = draft.choice === DEMO || (draft.base_url !== '' && draft.model !== '');
  const canSave = draft.choice !== '' && isWhole && outcome.kind !== 'busy';
  const serviceOf = (of: ServiceDraft): AskedService => ({
    name: findRow(list, of.choice)?.name ?? hostOf(of.base_url),
    base_url: of.base_url,
    model: of.model,
    hasKey: of.api_key !== '' || hasKey
  });
  /** What is still asked is about what the form said before. */
  const forget = (): void => {
    worked.current += 1;
    setOutcome(NOTHING);
  };
  const change = (changes: Partial<ServiceDraft>): void => {
    setDraft({ ...draft, ...changes });
    forget();
  };
  const showModels = (changes: Partial<ServiceDraft> = {}): void => {
    const now = { ...draft, ...changes };
    if (now.base_url === '') {
      return;
    }
    const ticket = ++asked.current;
    setListing({ kind: 'busy' });
    const { base_url, api_key } = changeOf(service, now, list);
    const wanted = {
      ...(base_url !== undefined && { base_url }),
      ...(api_key !== undefined && { api_key })
    };
    panel.rest.modelsOf(wanted).then(
      names => {
        if (ticket === asked.current) {
          setListing({ kind: 'listed', names });
          setDraft(before => ({ ...before, model: bestModel(before.model, names) }));
        }
      },
      (error: unknown) => {
        if (ticket === asked.current) {
          setListing({
            kind: 'failed',
            problem: describeProblem(problemOf(error), serviceOf(now), trans)
          });
        }
      }
    );
  };
  const choose = (choice: string): void => {
    const found = findRow(list, choice);
    const names = found?.models ?? null;
    const chosen = { choice, base_url: found?.base_url ?? '', api_key: '' };
    const model = list.set_model || (names === null ? (found?.model ?? '') : bestModel('', names));
    asked.current += 1;
    setDraft({ ...draft, ...chosen, model });
    forget();
    setListing(names === null ? NOTHING : { kind: 'listed', names });
    if (
      names === null &&
      found !== null &&
      found.base_url !== '' &&
      (found.has_key || found.has_credentials)
    ) {
      showModels({ ...chosen, model });
    }
  };
  const work = async (task: () => Promise<Outcome>): Promise<void> => {
    const ticket = ++worked.current;
    setOutcome({ kind: 'busy' });
    const ended = await task().catch((error: unknown): Outcome => {
      const problem = describeProblem(problemOf(error), serviceOf(draft), trans);
      return { kind: 'failed', problem };
    });
    if (ticket === worked.current) {
      setOutcome(ended);
    }
  };
  const keep = async (): Promise<void> => {
    await panel.changeService(changeOf(service, draft, list));
    setDraft(before => ({ ...before, api_key: '' }));
  };
  const save = (): void => {
    if (!canSave) {
      return;
    }
    void work(async () => {
      await keep();
      return { kind: 'saved' };
    });
  };
  const test = (): void => {
    if (!canSave) {
      return;
    }
    void work(async () => {
      const checks = await panel.rest.tryService(changeOf(service, draft, list));
      const found = findProblem(checks, serviceOf(draft), trans);
      if (found?.isBlocking === true) {
        return { kind: 'failed', problem: found.problem };
      }
      await keep();
      return { kind: 'works', caution: found?.problem ?? null };
    });
  };
  const first = React.useRef(isCurrent ? showModels : null);
  React.useEffect(() => {
    // Whoever comes back sees what there is to choose from.
    first.current?.();
  }, []);
  return {
    ...{ draft, row, hasKey, keyPlace, listing, outcome, canSave },
    ...{ change, choose, showModels, save, test }
  };
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}

/** The one that was named, where it is there; else the only one. */
function bestModel(named: string, names: readonly string[]): string {
  return named === '' && names.length === 1 ? (names[0] ?? '') : named;
}

/** What is in the way of an answer; null: the model answered and called its tool. */
function findProblem(
  checks: readonly ServiceCheck[],
  service: AskedService,
  trans: TranslationBundle
): { readonly isBlocking: boolean; readonly problem: ServiceProblem } | null {
  // The request itself says more than what was looked at before it.
  const isOfService = ({ name }: ServiceCheck): boolean =>
    ['service', 'tool calling', 'endpoint', 'model'].includes(name);
  const asked = checks.find(({ name }) => name === 'tool calling');
  if (asked?.status === 'ok') {
    return null;
  }
  const inTheWay = checks.filter(check => isOfService(check) && check.status === 'blocked');
  const worst = inTheWay.find(({ code }) => code !== '') ?? inTheWay[0] ?? asked;
  if (worst === undefined) {
    return null;
  }
  const { code, text: message, action: hint, status } = worst;
  const problem = describeProblem({ code, message, hint }, service, trans);
  return { isBlocking: status === 'blocked', problem };
}

interface ProviderFieldProps {
  readonly list: ProviderList;
  readonly choice: string;
  readonly onChoose: (choice: string) => void;
}

function ProviderField({ list, choice, onChoose }: ProviderFieldProps) {
  const trans = useTrans();
  const id = React.useId();
  const field = useFocus<HTMLSelectElement>();
  const running = list.providers.filter(({ models }) => models !== null);
  const others = list.providers.filter(({ models }) => models === null);
  const groups: readonly (readonly [label: string, rows: readonly ProviderOffer[]])[] = [
    [trans.__('Found running'), running],
    [trans.__('Providers'), others.filter(({ port }) => port === 0)],
    [trans.__('Your own server'), others.filter(({ port }) => port > 0)]
  ];
  return (
    <div className="cw-entry">
      <label htmlFor={id}>{trans.__('Provider')}</label>
      {running.length > 0 && choice === '' && (
        <div className="cw-row" role="group" aria-label={trans.__('Found running')}>
          {running.map(row => (
            <Button
              key={rowKey(row)}
              icon="play"
              onClick={() => {
                onChoose(rowKey(row));
              }}
            >
              {trans.__('%1 runs here', row.name)}
            </Button>
          ))}
        </div>
      )}
      <select
        ref={field}
        id={id}
        className="cw-field"
        value={choice}
        onChange={event => {
          onChoose(event.target.value);
        }}
      >
        <option value="" disabled>
          {trans.__('Choose one …')}
        </option>
        {groups.map(
          ([label, rows]) =>
            rows.length > 0 && (
              <optgroup key={label} label={label}>
                {rows.map(row => (
                  <option key={rowKey(row)} value={rowKey(row)}>
                    {row.name}
                  </option>
                ))}
              </optgroup>
            )
        )}
        {list.any_address && <option value={OTHER}>{trans.__('Another address …')}</option>}
        {list.set_model === '' && (
          <option value={DEMO}>{trans.__('Demo model, which follows rules')}</option>
        )}
      </select>
    </div>
  );
}

interface KeyFieldProps {
  readonly value: string;
  /** The server has it from elsewhere, and takes no other one. */
  readonly isSet: boolean;
  /** Requests are signed with what was found on the server. */
  readonly hasCredentials: boolean;
  readonly isKept: boolean;
  /** Where it is kept, or would be. */
  readonly place: string;
  readonly isNeeded: boolean;
  readonly onChange: (value: string, isPasted: boolean) => void;
  readonly onEnter: () => void;
}

function describeKey(
  {
    isKept,
    place,
    isNeeded,
    hasCredentials
  }: Omit<KeyFieldProps, 'value' | 'isSet' | 'onChange' | 'onEnter'>,
  trans: TranslationBundle
): string {
  if (hasCredentials) {
    return trans.__('AWS credentials were found on this server: a key is not needed.');
  }
  const isInKeyring = place === 'keyring';
  if (isKept) {
    return isInKeyring
      ? trans.__('A key is kept in the system’s keyring. Leave this empty to use it.')
      : trans.__('A key is kept. Leave this empty to use it.');
  }
  if (!isNeeded) {
    return trans.__('Leave this empty where none is needed.');
  }
  return isInKeyring
    ? trans.__(
        'From your account there. The system’s keyring keeps it, never the notebook or the browser.'
      )
    : trans.__('From your account there. The server keeps it, never the notebook or the browser.');
}

function KeyField({ value, isSet, onChange, onEnter, ...known }: KeyFieldProps) {
  const trans = useTrans();
  const note = describeKey(known, trans);
  if (isSet) {
    return (
      <div className="cw-entry">
        <strong>{trans.__('Key')}</strong>
        <span className="cw-muted">{trans.__('This server has a key already.')}</span>
      </div>
    );
  }
  return (
    <Entry
      label={trans.__('Key')}
      note={note}
      value={value}
      placeholder={
        known.isNeeded && !known.isKept && !known.hasCredentials ? trans.__('Paste your key') : ''
      }
      isSecret
      onChange={onChange}
      onEnter={onEnter}
    />
  );
}

interface ModelFieldProps {
  readonly model: string;
  /** No other can be chosen. */
  readonly isSet: boolean;
  /** Those an administrator allows; empty: all. */
  readonly allowed: readonly string[];
  readonly listing: Listing;
  readonly onChange: (model: string) => void;
}

function ModelField({ model, isSet, allowed, listing, onChange }: ModelFieldProps) {
  const trans = useTrans();
  const id = React.useId();
  const names = listing.kind === 'listed' ? listing.names : [];
  const typed = model.trim().toLowerCase();
  // A whole name was chosen: then the others are there to choose from.
  const shown = names.includes(model)
    ? names
    : names.filter(name => name.toLowerCase().includes(typed));
  const options = useActiveOption(shown, onChange);
  return (
    <div className="cw-entry">
      <label htmlFor={id}>{trans.__('Model')}</label>
      <input
        id={id}
        className="cw-field"
        type="text"
        autoComplete="off"
        spellCheck={false}
        value={model}
        disabled={isSet}
        {...(names.length > 0 && {
          role: 'combobox',
          'aria-expanded': shown.length > 0,
          'aria-controls': `${id}list`,
          'aria-autocomplete': 'list' as const,
          ...(options.active >= 0 && {
            'aria-activedescendant': `${id}list-${String(options.active)}`
          })
        })}
        placeholder={names.length > 0 ? trans.__('Choose one below') : trans.__('Name of a model')}
        aria-describedby={`${id}note`}
        onChange={event => {
          options.setActive(-1);
          onChange(event.target.value);
        }}
        onKeyDown={options.onKeyDown}
      />
      {shown.length > 0 && !isSet && (
        <ModelOptions
          id={`${id}list`}
          names={shown}
          chosen={model}
          active={options.active}
          onMove={options.setActive}
          onChoose={onChange}
        />
      )}
      <div id={`${id}note`} role="status" className="cw-service-outcome">
        {listing.kind === 'listed' && (
          <p className="cw-muted">
            {names.length === 0
              ? trans.__('It does not say which models it has. Type the name of one.')
              : shown.length === 0
                ? trans.__('It lists no model of this name.')
                : trans._n('%1 model', '%1 models', names.length)}
          </p>
        )}
        {allowed.length > 0 && (
          <p className="cw-muted">{trans.__('Allowed: %1', allowed.join(', '))}</p>
        )}
      </div>
    </div>
  );
}

interface EntryProps {
  readonly label: string;
  readonly note: string;
  readonly value: string;
  readonly placeholder: string;
  readonly isSecret?: boolean;
  readonly onChange: (value: string, isPasted: boolean) => void;
  readonly onEnter: () => void;
}

function Entry({
  label,
  note,
  value,
  placeholder,
  isSecret = false,
  onChange,
  onEnter
}: EntryProps) {
  const field = React.useId();
  return (
    <div className="cw-entry">
      <label htmlFor={field}>{label}</label>
      <input
        id={field}
        className="cw-field"
        type={isSecret ? 'password' : 'text'}
        autoComplete={isSecret ? 'new-password' : 'off'}
        spellCheck={false}
        value={value}
        placeholder={placeholder}
        aria-describedby={`${field}note`}
        onChange={event => {
          const { inputType } = event.nativeEvent as InputEvent;
          onChange(event.target.value.trim(), inputType === 'insertFromPaste');
        }}
        onKeyDown={event => {
          if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
            event.preventDefault();
            onEnter();
          }
        }}
      />
      <span id={`${field}note`} className="cw-muted">
        {note}
      </span>
    </div>
  );
}

function ProblemView({ problem }: { problem: ServiceProblem }) {
  const trans = useTrans();
  return (
    <div className="cw-check cw-mod-blocked">
      <Icon name="error" />
      <div>
        <p>{problem.title}</p>
        {problem.action !== '' && <p className="cw-muted">{problem.action}</p>}
        {problem.detail !== '' && (
          <details>
            <summary className="cw-muted">{trans.__('What it said')}</summary>
            <p className="cw-muted">{problem.detail}</p>
          </details>
        )}
      </div>
    </div>
  );
}

interface OutcomeViewProps {
  readonly outcome: Outcome;
  readonly model: string;
  readonly onAsk: () => void;
}

function OutcomeView({ outcome, model, onAsk }: OutcomeViewProps) {
  const trans = useTrans();
  const isDone = outcome.kind === 'saved' || outcome.kind === 'works';
  return (
    <>
      <div role="status" className="cw-service-outcome">
        {outcome.kind === 'busy' && trans.__('Asking the service …')}
        {outcome.kind === 'failed' && <ProblemView problem={outcome.problem} />}
        {isDone && (
          <p className="cw-check cw-mod-ok">
            <Icon name="check" />
            <span>
              {outcome.kind === 'saved'
                ? trans.__('Saved.')
                : trans.__('%1 answers. It is saved and used from now on.', model)}
            </span>
          </p>
        )}
        {outcome.kind === 'works' && outcome.caution !== null && (
          <ProblemView problem={outcome.caution} />
        )}
      </div>
      {isDone && (
        <div className="cw-row">
          <Button kind="primary" icon="bubble" onClick={onAsk}>
            {trans.__('Ask something')}
          </Button>
        </div>
      )}
    </>
  );
}

const LEVELS = ['low', 'medium', 'high'];

interface KnobsProps {
  readonly knobs: ServiceDraft['knobs'];
  readonly onChange: (knobs: ServiceDraft['knobs']) => void;
}

/** What is sent with each request; what is not set is not sent. */
function Knobs({ knobs, onChange }: KnobsProps) {
  const trans = useTrans();
  const entries = [
    ['max_output_tokens', trans.__('Longest answer, in tokens'), { min: 1, step: 1 }],
    ['temperature', trans.__('Temperature'), { min: 0, max: 2, step: 'any' }],
    ['top_p', trans.__('Top p'), { min: 0, max: 1, step: 'any' }],
    ['seed', trans.__('Seed'), { step: 1 }],
    ['service_tier', trans.__('Service tier'), { type: 'text' }]
  ] as const;
  const levels = [
    ['reasoning_effort', trans.__('Effort of thinking')],
    ['verbosity', trans.__('Length of answers')]
  ] as const;
  return (
    <details className="cw-knobs">
      <summary>{trans.__('How it answers')}</summary>
      <p className="cw-muted">
        {trans.__('Empty: as the model does by itself. What a model does not take is left out.')}
      </p>
      <div className="cw-knob-fields">
        {levels.map(([name, label]) => (
          <label key={name}>
            <span>{label}</span>
            <select
              className="cw-field"
              value={knobs[name] ?? ''}
              onChange={event => {
                onChange({ [name]: event.target.value });
              }}
            >
              <option value="">{trans.__('Default')}</option>
              {[...new Set([...LEVELS, knobs[name] ?? ''])]
                .filter(level => level !== '')
                .map(level => (
                  <option key={level} value={level}>
                    {levelWords(level, trans)}
                  </option>
                ))}
            </select>
          </label>
        ))}
        {entries.map(([name, label, limits]) => (
          <label key={name}>
            <span>{label}</span>
            <input
              className="cw-field"
              type="number"
              {...limits}
              placeholder={trans.__('Default')}
              value={knobs[name] ?? ''}
              onChange={event => {
                onChange({ [name]: event.target.value });
              }}
            />
          </label>
        ))}
      </div>
    </details>
  );
}

function levelWords(level: string, trans: TranslationBundle): string {
  const words: Partial<Record<string, string>> = {
    low: trans.__('Low'),
    medium: trans.__('Medium'),
    high: trans.__('High')
  };
  return words[level] ?? level;
}

interface ServiceCardProps {
  readonly panel: Panel;
  /** Nothing was said yet, so there is room to say which model answers. */
  readonly isEmpty: boolean;
  readonly onOpen: () => void;
}

/** Says that the demo model answers, or that no model is chosen, and leads to the settings. */
export function ServiceCard({ panel, isEmpty, onOpen }: ServiceCardProps) {
  const trans = useTrans();
  const service = useSignal(panel.serviceChanged, () => panel.service);
  if (service === null || !isEmpty || !(service.is_demo || service.model === '')) {
    return null;
  }
  return (
    <section className="cw-service-card" aria-label={trans.__('Model')}>
      <div className="cw-service-demo">
        <Icon name="info" />
        {service.is_demo ? (
          <p>
            <strong>{trans.__('The demo model answers.')}</strong>{' '}
            {trans.__('It follows rules and is no language model. Nothing leaves this computer.')}
          </p>
        ) : (
          <p>
            <strong>{trans.__('No model is chosen yet.')}</strong>
          </p>
        )}
      </div>
      <Button icon="key" onClick={onOpen}>
        {trans.__('Use your own model')}
      </Button>
    </section>
  );
}
