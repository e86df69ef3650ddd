import * as React from 'react';
import { flushSync } from 'react-dom';

import { Button, IconButton } from '../../views/button';
import { useTrans } from '../../views/scope';
import { type Complaints, LIMITS, MOST_SCENES } from './checks';
import type { SceneDraft } from './draft';
import { type FieldFacts, TextField, Theirs } from './field';
import { whenWords } from './words';

interface ScenesFieldProps extends FieldFacts {
  readonly label: string;
  readonly scenes: readonly SceneDraft[];
  readonly complaints: Complaints;
  readonly onScenes: (scenes: readonly SceneDraft[]) => void;
}

/** More instructions for one kind of situation each. */
export function ScenesField(props: ScenesFieldProps) {
  const { label, scenes, complaints, onScenes } = props;
  const trans = useTrans();
  const group = React.useRef<HTMLFieldSetElement>(null);
  const isFull = scenes.length >= MOST_SCENES;
  /** Draw the changed scenes at once, so that the very next key goes to what is focused. */
  const change = (changed: readonly SceneDraft[], focused: string): void => {
    flushSync(() => {
      onScenes(changed);
    });
    [...(group.current?.querySelectorAll<HTMLElement>(focused) ?? [])].at(-1)?.focus();
  };
  const add = (): void => {
    if (!isFull) {
      const key = Math.max(-1, ...scenes.map(scene => scene.key)) + 1;
      change([...scenes, { key, label: '', prompt: '', when: null }], 'input');
    }
  };
  return (
    <fieldset ref={group} className="cw-form-group">
      <legend>{label}</legend>
      <p className="cw-muted">
        {trans.__(
          'More instructions for one kind of situation. A label that begins with data, plot or debug is chosen by what goes on in the notebook, any other one when the prompt says it.'
        )}
      </p>
      {scenes.length > 0 && (
        <ul className="cw-scenes">
          {scenes.map((scene, place) => (
            <SceneField
              key={scene.key}
              scene={scene}
              number={place + 1}
              complaints={complaints}
              onChange={changed => {
                onScenes(scenes.map(other => (other === scene ? changed : other)));
              }}
              onRemove={() => {
                change(
                  scenes.filter(other => other !== scene),
                  '.cw-add-scene'
                );
              }}
            />
          ))}
        </ul>
      )}
      <div className="cw-row">
        <Button icon="plus" className="cw-add-scene" aria-disabled={isFull} onClick={add}>
          {trans.__('Add a scene')}
        </Button>
        {isFull && (
          <span className="cw-muted">
            {trans.__('%1 scenes are as many as can be.', MOST_SCENES)}
          </span>
        )}
      </div>
      <Theirs {...props} />
    </fieldset>
  );
}

interface SceneFieldProps {
  readonly scene: SceneDraft;
  readonly number: number;
  readonly complaints: Complaints;
  readonly onChange: (scene: SceneDraft) => void;
  readonly onRemove: () => void;
}

function SceneField({ scene, number, complaints, onChange, onRemove }: SceneFieldProps) {
  const trans = useTrans();
  const { key, label, prompt, when } = scene;
  const name = label.trim() === '' ? trans.__('Scene %1', number) : label.trim();
  return (
    <li>
      <div className="cw-scene" role="group" aria-label={name}>
        <div className="cw-scene-head">
          <TextField
            label={trans.__('Label')}
            value={label}
            limit={LIMITS.label}
            placeholder={trans.__('Such as: plot')}
            complaint={complaints[`label ${String(key)}`]}
            onValue={value => {
              onChange({ ...scene, label: value });
            }}
          />
          <IconButton
            icon="trash"
            label={trans.__('Remove the scene "%1"', name)}
            onClick={onRemove}
          />
        </div>
        <TextField
          label={trans.__('What it is told then')}
          value={prompt}
          limit={LIMITS.prompt}
          rows={2}
          complaint={complaints[`prompt ${String(key)}`]}
          onValue={value => {
            onChange({ ...scene, prompt: value });
          }}
        />
        {when !== null && (
          <p className="cw-muted">
            {trans.__(
              'Only when: %1. The file says so; it is changed there.',
              whenWords(when, trans)
            )}
          </p>
        )}
      </div>
    </li>
  );
}
