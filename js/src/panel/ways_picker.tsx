import * as React from 'react';

import { Icon } from '../ui/button';
import { useFocus, useTrans } from '../ui/hooks';
import { usePopup } from '../ui/menu';
import { useNames } from './pickers';

const COUNTS = [2, 3, 4, 5, 6, 7, 8] as const;
const MOST = COUNTS[COUNTS.length - 1];

/** How often a prompt is tried, and by whom. */
export interface WantedWays {
  readonly count: number;
  /** Who answers, in turn; empty: the model that is chosen for the prompt. */
  readonly models: readonly string[];
}

interface WaysPickerProps {
  /** The model that is chosen for the prompt. */
  readonly model: string;
  readonly canSend: boolean;
  readonly load: () => Promise<readonly string[]>;
  readonly onTry: (wanted: WantedWays) => void;
}

/** Tries what is written in several ways side by side: asks how many, and by which models. */
export function WaysPicker(props: WaysPickerProps) {
  const trans = useTrans();
  const popup = usePopup<HTMLDivElement>();
  const button = React.useRef<HTMLButtonElement>(null);
  const label = trans.__('Try several ways');
  return (
    <div className="cw-menu-anchor" ref={popup.anchor}>
      <button
        ref={button}
        type="button"
        className="cw-icon-button"
        aria-haspopup="dialog"
        aria-expanded={popup.isOpen}
        aria-label={label}
        title={label}
        onClick={popup.toggle}
      >
        <Icon name="branch" />
      </button>
      {popup.isOpen && (
        <div
          className="cw-popup cw-ways-popup cw-mod-above cw-mod-end"
          role="dialog"
          aria-label={label}
          onKeyDown={event => {
            if (event.key === 'Escape' && !event.nativeEvent.isComposing) {
              event.preventDefault();
              event.stopPropagation();
              popup.close();
              button.current?.focus();
            }
          }}
        >
          <WaysForm
            {...props}
            onTry={wanted => {
              popup.close();
              props.onTry(wanted);
            }}
          />
        </div>
      )}
    </div>
  );
}

function WaysForm({ model, canSend, load, onTry }: WaysPickerProps) {
  const trans = useTrans();
  const id = React.useId();
  const { names } = useNames(load);
  const first = useFocus<HTMLSelectElement>();
  const [wanted, setWanted] = React.useState(3);
  const [models, setModels] = React.useState<readonly string[]>([]);
  const count = Math.max(wanted, models.length); // each that is chosen answers once at least
  return (
    <form
      className="cw-ways-form"
      onSubmit={event => {
        event.preventDefault();
        onTry({ count, models });
      }}
    >
      <div className="cw-row">
        <label htmlFor={id}>{trans.__('How many ways')}</label>
        <select
          ref={first}
          id={id}
          className="cw-field"
          value={count}
          onChange={event => {
            setWanted(Number(event.target.value));
          }}
        >
          {COUNTS.map(number => (
            <option key={number} value={number} disabled={number < models.length}>
              {number}
            </option>
          ))}
        </select>
      </div>
      {names.length > 1 && (
        <fieldset>
          <legend>{trans.__('Models, in turn (none: %1)', model)}</legend>
          <div className="cw-ways-models">
            {names.map(name => (
              <label key={name}>
                <input
                  type="checkbox"
                  checked={models.includes(name)}
                  disabled={models.length === MOST && !models.includes(name)}
                  onChange={({ target }) => {
                    const others = models.filter(other => other !== name);
                    setModels(target.checked ? [...others, name] : others);
                  }}
                />
                <span>{name}</span>
              </label>
            ))}
          </div>
        </fieldset>
      )}
      <p className="cw-muted">
        {trans.__(
          'Side by side in copies of your kernel; keep one. Files and network are the same for all.'
        )}
      </p>
      <button type="submit" className="cw-button cw-mod-primary" disabled={!canSend}>
        <span>{trans._n('Try %1 way', 'Try %1 ways', count)}</span>
      </button>
    </form>
  );
}
