import * as React from 'react';

import { Icon } from './icon';
import { usePopup } from './popup';
import { useTrans } from './scope';

interface ModelPickerProps {
  /** The one that answers. */
  readonly model: string;
  /** False: an administrator names the models. */
  readonly isFree: boolean;
  readonly load: () => Promise<readonly string[]>;
  readonly onChoose: (model: string) => void;
}

/** Which model answers: one of the service's, or any name. */
export function ModelPicker({ model, isFree, load, onChoose }: ModelPickerProps) {
  const trans = useTrans();
  const popup = usePopup<HTMLDivElement>();
  const button = React.useRef<HTMLButtonElement>(null);
  const close = (): void => {
    popup.close();
    button.current?.focus();
  };
  return (
    <div className="cw-menu-anchor cw-mod-shrink" ref={popup.anchor}>
      <button
        ref={button}
        type="button"
        className="cw-picker"
        aria-haspopup="dialog"
        aria-expanded={popup.isOpen}
        aria-label={trans.__('Model: %1', model)}
        title={trans.__('Model: %1', model)}
        onClick={popup.toggle}
      >
        <span className="cw-picker-text">{model === '' ? trans.__('Model') : model}</span>
        <Icon name="chevron_down" />
      </button>
      {popup.isOpen && (
        <ModelList
          model={model}
          isFree={isFree}
          load={load}
          onClose={close}
          onChoose={name => {
            close();
            onChoose(name);
          }}
        />
      )}
    </div>
  );
}

interface ModelListProps extends ModelPickerProps {
  readonly onClose: () => void;
}

function ModelList({ model, isFree, load, onChoose, onClose }: ModelListProps) {
  const trans = useTrans();
  const { names, isLoading } = useNames(load);
  const [query, setQuery] = React.useState('');
  const [active, setActive] = React.useState(-1);
  const list = React.useId();
  const field = React.useRef<HTMLInputElement>(null);
  React.useEffect(() => {
    field.current?.focus();
  }, []);
  const wanted = query.trim();
  const shown = names.filter(name => name.toLowerCase().includes(wanted.toLowerCase()));
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    const chosen = shown[active] ?? (isFree ? wanted : shown[0]);
    if (event.key === 'Escape') {
      onClose();
    } else if (event.key === 'ArrowDown') {
      setActive(Math.min(active + 1, shown.length - 1));
    } else if (event.key === 'ArrowUp') {
      setActive(Math.max(active - 1, -1));
    } else if (event.key === 'Enter' && chosen) {
      onChoose(chosen);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="cw-popup cw-models cw-mod-above" role="dialog" aria-label={trans.__('Model')}>
      <input
        ref={field}
        className="cw-field"
        role="combobox"
        aria-expanded={shown.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-label={isFree ? trans.__('Name of a model') : trans.__('Find a model')}
        {...(active >= 0 && { 'aria-activedescendant': `${list}-${String(active)}` })}
        placeholder={isFree ? trans.__('Name of a model') : trans.__('Find a model')}
        value={query}
        onChange={event => {
          setQuery(event.target.value);
          setActive(-1);
        }}
        onKeyDown={onKeyDown}
      />
      <ul id={list} role="listbox" aria-label={trans.__('Models')}>
        {shown.map((name, index) => (
          <li
            key={name}
            id={`${list}-${String(index)}`}
            role="option"
            aria-selected={index === active}
            className="cw-option"
            onMouseDown={event => {
              event.preventDefault();
              onChoose(name);
            }}
            onMouseMove={() => {
              setActive(index);
            }}
          >
            <span className="cw-menu-check">{name === model && <Icon name="check" />}</span>
            <span className="cw-option-label">{name}</span>
          </li>
        ))}
      </ul>
      {shown.length === 0 && (
        <p className="cw-muted cw-popup-note">
          {isLoading
            ? trans.__('Asking the service …')
            : isFree && wanted !== ''
              ? trans.__('Press Enter to use %1', wanted)
              : trans.__('The service names no models.')}
        </p>
      )}
    </div>
  );
}

function useNames(load: ModelPickerProps['load']) {
  const [names, setNames] = React.useState<readonly string[] | null>(null);
  React.useEffect(() => {
    let isOver = false;
    load().then(
      found => {
        if (!isOver) {
          setNames(found);
        }
      },
      () => {
        if (!isOver) {
          setNames([]);
        }
      }
    );
    return () => {
      isOver = true;
    };
  }, [load]);
  return { names: names ?? [], isLoading: names === null };
}
