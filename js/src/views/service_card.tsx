import * as React from 'react';

import { Button } from './button';
import { Icon } from './icon';
import type { Panel } from './ports';
import { useTrans } from './scope';
import { ServiceForm } from './service_form';
import { useSignal } from './signal';

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
